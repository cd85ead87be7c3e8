import type * as z from 'zod';
import type {
  AfterCommitContext,
  LongContext,
  PrepareContext,
  ReadContext,
  SeekContext,
  WriteContext,
} from './context.ts';
import { invalid, ServiceError, type ErrorCode } from '../lib/errors.ts';
import { plainNumbers } from '../lib/exact-json.ts';
import { problemsOf, problemText } from '../lib/problems.ts';
import { mayCall, type Scope } from '../lib/scopes.ts';

type Effect = 'read' | 'write' | 'wait';
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

interface RestShape {
  readonly method: Method;
  /** `/v1/keys/{id}`; the last parameter may hold `/`, written `%2F` or as it is. */
  readonly path: string;
  /** Which input field a path parameter fills, where the names differ. */
  readonly params?: Readonly<Record<string, string>>;
  /** 200 unless a named resource is created. */
  readonly status?: 200 | 201;
  /** The answers that say of something that it will be done: 202. */
  readonly accepted?: (answer: Readonly<Record<string, unknown>>) => boolean;
  /** The longest body, where API_BODY_DEFAULT_MAX_BYTES is too little. */
  readonly bodyMaxBytes?: number;
  /** The whole body is one field; the others stand in the query. Otherwise it is a JSON object of all fields. */
  readonly body?: RawBody;
  /** Two operations share a route: this one is meant when the body has this field. */
  readonly when?: string;
  /** The answer's `version` is its ETag; in a write, `if_version` is what If-Match and If-None-Match say. */
  readonly versioned?: true;
}

export interface RawBody {
  readonly field: string;
  /** Any JSON, or bytes: the field's schema takes `Bytes` then. */
  readonly as: 'json' | 'bytes';
  /** The field that the Content-Type of a body of bytes fills. */
  readonly typeField?: string;
  /** The fields that may stand in the query; all others, unless said. */
  readonly query?: readonly string[];
  /** A body of this Content-Type is a JSON object of fields after all. */
  readonly objectType?: string;
}

export interface McpShape {
  readonly title: string;
  readonly destructive?: boolean;
  readonly idempotent?: boolean;
  /** True where the answer carries text from outside the project. */
  readonly openWorld?: boolean;
  /** Which part of the answer was written by outsiders and must be fenced as data. */
  readonly untrusted?: 'event' | 'events' | 'file' | 'files' | 'messages';
}

interface CliShape {
  /** `inbox claim <event_id>`: the words of the name, then positional fields. `[name]` is optional. */
  readonly usage: string;
  /** Complete command lines for the help text, without the leading `svc`. */
  readonly examples: readonly string[];
  /** The answer that means "nothing there" (exit code 3), by the name of what is null, or an empty list, then. */
  readonly emptyWhenNull?: string;
  /** Columns of the table a terminal shows for `items`. */
  readonly columns?: readonly string[];
  /** What the command fills in where the interface requires a field. */
  readonly defaults?: Readonly<Record<string, string>>;
  /** Flags with names of their own, by field: `{ event_id: 'event' }` is typed as `--event`. */
  readonly flags?: Readonly<Record<string, string>>;
}

/** An agent as a ledger entry names it. */
interface AnnouncedAgent {
  readonly agent: string;
  readonly platform: string;
}

interface Declaration<I extends z.ZodObject, O extends z.ZodType> {
  /** The tool name; its first word is the folder and the rest the file. */
  readonly name: string;
  readonly summary: string;
  /** At most 400 characters: it is the tool description an agent pays for. */
  readonly description: string;
  readonly scope: Scope | 'any';
  readonly input: I;
  readonly output: O;
  /** Codes this operation itself may answer with, beyond those every call may. */
  readonly errors: readonly ErrorCode[];
  readonly effect: Effect;
  /** The input fields that take any JSON: their numbers stay as the caller wrote them. */
  readonly exact?: readonly string[];
  /** Whether a replica may answer it (`local`) or only the authority (`upstream`). */
  readonly replica: 'local' | 'upstream';
  readonly rest: RestShape;
  readonly mcp: McpShape | false;
  readonly cli: CliShape;
  /** The id the ledger files a write under. A call that was refused has an input and nothing of an output. */
  readonly subject?: (
    input: z.output<I>,
    output: Partial<z.output<O>>,
  ) => string | null | undefined;
  /** Whom the ledger's entry of the call names, where the call itself announces its agent. */
  readonly agent?: (output: z.output<O>) => AnnouncedAgent;
  /** The input without bytes that only `prepare` needs: this is what `commit` gets and what the ledger's digest is of. */
  readonly brief?: (input: z.output<I>) => z.output<I>;
  /** An input every binding is tested with. */
  readonly example: z.input<I>;
}

/** The phases of a write. Only `commit` runs inside the transaction, and it may await nothing but the context's stores. */
interface WritePhases<I, P, C, O> {
  /** Files, DNS, blobs: whatever takes time. Returns plain data. */
  readonly prepare?: (context: PrepareContext, input: I) => Promise<P>;
  /** In the place of one commit: waits, holding no transaction and no snapshot, and tries until one changes something. */
  readonly seek?: (context: SeekContext<C>, input: I) => Promise<C>;
  /**
   * Returns what a repeat with the same Idempotency-Key needs: small and JSON. Null if it found nothing to do: then the
   * ledger gets no entry, and a repeat tries anew.
   */
  readonly commit: (context: WriteContext, input: I, prepared: P) => Promise<C>;
  /** Builds the answer after the commit is durable, and again for a repeat. */
  readonly answer?: (context: ReadContext, input: I, committed: C) => Promise<O>;
  /** In the place of `answer`: waits first, holding no transaction and no snapshot. */
  readonly wait?: (context: AfterCommitContext<I, C>, input: I, committed: C) => Promise<O>;
}

type ErasedPhases = WritePhases<unknown, unknown, unknown, unknown>;

/** What an executor runs, with the types of input and output erased. */
export type Handler =
  | {
      readonly kind: 'read';
      readonly run: (context: ReadContext, input: unknown) => Promise<unknown>;
    }
  | {
      readonly kind: 'long';
      readonly run: (context: LongContext, input: unknown) => Promise<unknown>;
    }
  | ({ readonly kind: 'write' } & ErasedPhases);

type Erased = Omit<
  Declaration<z.ZodObject, z.ZodType>,
  'agent' | 'subject' | 'brief' | 'input' | 'output' | 'example'
>;

/** One operation: the value that REST, OpenAPI, MCP and CLI read. */
export interface Operation extends Erased {
  readonly input: z.ZodObject;
  readonly output: z.ZodType;
  readonly example: Record<string, unknown>;
  readonly handler: Handler;
  readonly subjectOf: (input: unknown, output: unknown) => string | null;
  readonly briefOf: (input: unknown) => unknown;
  readonly agentOf: (output: unknown) => AnnouncedAgent | null;
}

/**
 * Declares an operation. Chain exactly one of `.read` (one snapshot), `.long` (many snapshots, or a wait) and `.write`
 * (phases around one transaction).
 */
export function defineOperation<I extends z.ZodObject, O extends z.ZodType>(
  declaration: Declaration<I, O>,
) {
  const finish = (handler: Handler): Operation => {
    const { agent, subject, brief, example, ...rest } = declaration;
    const subjectOf = (input: unknown, output: unknown): string | null =>
      subject?.(input as z.output<I>, output as Partial<z.output<O>>) ?? null;
    const briefOf = (input: unknown): unknown => (brief ? brief(input as z.output<I>) : input);
    const agentOf = (output: unknown): AnnouncedAgent | null =>
      agent?.(output as z.output<O>) ?? null;
    return { ...rest, example, handler, subjectOf, briefOf, agentOf };
  };
  return {
    read: (run: (context: ReadContext, input: z.output<I>) => Promise<z.input<O>>) =>
      finish({ kind: 'read', run: (context, input) => run(context, input as z.output<I>) }),
    long: (run: (context: LongContext, input: z.output<I>) => Promise<z.input<O>>) =>
      finish({ kind: 'long', run: (context, input) => run(context, input as z.output<I>) }),
    write: <P, C = z.input<O>>(phases: WritePhases<z.output<I>, P, C, z.input<O>>) =>
      finish({ kind: 'write', ...(phases as unknown as ErasedPhases) }),
  };
}

/** Whether a call may take its time: then it ends when the caller has gone. */
export function mayWait({ handler }: Operation): boolean {
  if (handler.kind !== 'write') return handler.kind === 'long';
  return handler.wait !== undefined || handler.seek !== undefined;
}

/** The first thing every executor does: SCOPE_MISSING where the key may not call this, else the input as `parseInput` says. */
export function admit(operation: Operation, input: unknown, scopes: readonly Scope[]): unknown {
  if (!mayCall(scopes, operation.scope)) {
    throw new ServiceError('SCOPE_MISSING', { details: { scope: operation.scope } });
  }
  return parseInput(operation, input);
}

/** Checks an input against the declaration; VALIDATION_FAILED lists the first problems with their paths. */
export function parseInput(operation: Operation, input: unknown): unknown {
  return parseFields(operation.input, plainNumbers(input ?? {}, operation.exact));
}

/** The same for what is no operation. */
export function parseFields<T extends z.ZodType>(schema: T, input: unknown): z.output<T> {
  const parsed = schema.safeParse(input, { error: problemText });
  if (parsed.success) return parsed.data;
  throw invalid(...problemsOf(parsed.error));
}
