import { operations } from '../../operations/index.ts';
import { isObject } from '../../lib/guards.ts';
import type { ObjectSchema } from './schema.ts';

/** The names of the tools that a connection has. */
export type ToolNames = ReadonlySet<string>;

const NAMES: ToolNames = new Set(operations.map(({ name }) => name));

export function offeredNames(tools: readonly { readonly name: string }[]): ToolNames {
  return new Set(tools.map(({ name }) => name));
}

/** A text without the sentences that name an operation which isn't offered as a tool. */
export function offeredText(text: string, offered: ToolNames): string {
  const isMissing = (word: string) => NAMES.has(word) && !offered.has(word);
  return text
    .split(/(?<=[.?!])\s+/)
    .filter((sentence) => !(sentence.match(/[a-z]+(?:_[a-z]+)+/g) ?? []).some(isMissing))
    .join(' ');
}

interface ToolDescription {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
}

/** Tools whose descriptions name only each other. */
export function amongOffered<T extends ToolDescription>(tools: readonly T[]): T[] {
  const offered = offeredNames(tools);
  return tools.map((tool) => ({
    ...tool,
    description: offeredText(tool.description, offered),
    inputSchema: { ...described(tool.inputSchema, offered), type: 'object' },
  }));
}

type Schema = Record<string, unknown>;

function described({ description, properties, ...rest }: Schema, offered: ToolNames): Schema {
  const text = typeof description === 'string' ? offeredText(description, offered) : '';
  const fields = isObject(properties) ? Object.entries(properties) : [];
  const shown = fields.map(([name, field]) => [
    name,
    isObject(field) ? described(field, offered) : field,
  ]);
  return {
    ...rest,
    ...(text !== '' && { description: text }),
    ...(isObject(properties) && { properties: Object.fromEntries(shown) as Schema }),
  };
}
