import * as z from 'zod';
import type { Operation } from '../../kernel/operation.ts';
import { nameOf } from '../../kernel/schema-names.ts';
import { withoutSafeRange } from '../fields.ts';

type Json = Record<string, unknown>;

const DEFINITIONS = '#/$defs/';

/**
 * The named schemas of a document: those that the operations name, and one for each answer and each body. Every use is a
 * reference, so that a generated client has one type for each.
 */
export class Schemas {
  readonly #found = new Map<string, Json>();

  /** The schema of an operation's answer. */
  answer(operation: Operation): Json {
    const { output } = operation;
    const schema = this.of(output, 'output');
    const isNamed = !(output instanceof z.ZodObject) || nameOf(output) !== undefined;
    if (isNamed) return schema;
    const name = answerName(operation);
    const description = name.endsWith('Page') ? 'One page of a list.' : answerOf(operation);
    return this.add(name, { description, ...schema });
  }

  /** The fields of an operation's input. */
  fields(input: z.ZodType): {
    readonly properties: Readonly<Record<string, Json>>;
    readonly required: readonly string[];
  } {
    const { properties = {}, required = [] } = this.of(input, 'input');
    return { properties: properties as Record<string, Json>, required: required as string[] };
  }

  /** The schema of a type, under a name if it has one. */
  of(type: z.ZodType, io: 'input' | 'output'): Json {
    const schema = z.toJSONSchema(type, {
      io,
      unrepresentable: 'any',
      override: withoutSafeRange,
      metadata: named as unknown as typeof z.globalRegistry,
    }) as Json;
    const { $schema: _dialect, $defs: definitions, ...rest } = schema;
    for (const [id, definition] of Object.entries((definitions ?? {}) as Record<string, Json>)) {
      // Zod's own names are for what refers to itself, which is only "any JSON".
      if (!id.startsWith('__')) this.add(id, pointed(definition) as Json);
    }
    return pointed(rest) as Json;
  }

  /** Keeps a schema under a name; returns the reference to it. Throws if the name means something else already. */
  add(name: string, schema: Json): Json {
    const known = this.#found.get(name);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`Two schemas have the name ${name}.`);
    }
    this.#found.set(name, schema);
    return { $ref: `#/components/schemas/${name}` };
  }

  /** All of them, by name. */
  all(): Record<string, Json> {
    return Object.fromEntries([...this.#found].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/** What zod asks about each schema: its description, and the name under which it stands once. */
const named = {
  get(schema: z.ZodType): object | undefined {
    const described = z.globalRegistry.get(schema);
    const id = nameOf(schema);
    return id === undefined ? described : { ...described, id };
  },
};

/** `EventPage` for a list of events that goes on; otherwise `InboxAckAnswer`. */
function answerName({ name, output }: Operation): string {
  const { items, next_cursor: next } = output instanceof z.ZodObject ? output.shape : {};
  const item = items instanceof z.ZodArray ? nameOf(items.element) : undefined;
  return item !== undefined && next !== undefined ? `${item}Page` : `${pascal(name)}Answer`;
}

function answerOf({ name }: Operation): string {
  return `The answer of ${name}.`;
}

/** `inbox_ack` → `InboxAck`. */
export function pascal(name: string): string {
  return name.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The schema with references into the document, and without those to zod's own names, which mean any JSON. */
function pointed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pointed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => {
      if (key === 'id' && typeof member === 'string' && 'type' in value) return [];
      if (key !== '$ref' || typeof member !== 'string') return [[key, pointed(member)]];
      return member.startsWith(DEFINITIONS) && !member.startsWith(`${DEFINITIONS}__`)
        ? [[key, `#/components/schemas/${member.slice(DEFINITIONS.length)}`]]
        : [];
    }),
  );
}
