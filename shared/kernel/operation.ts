import type * as z from 'zod';
import type {
  AfterCommitContext,
  LongContext,
  PrepareContext,
  ReadContext,
  Caller,
  SeekContext,
  WriteContext,
} from './context.ts';
import { refuseOutside, type DiskNames } from './disk-limit.ts';
import { invalid, scopeMissing, type ErrorCode } from '../lib/errors.ts';
import { plainNumbers } from '../lib/json/exact-json.ts';
import { problemsOf, problemText } from '../lib/problems.ts';
import { mayCall, type Scope } from '../lib/scopes.ts';

type Effect = 'read' | 'write' | 'wait';
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

interface RestShape {
  readonly method: Method;
  /** `/v1/keys/{id}`; the last parameter may contain `/`, either as `%2F` or unescaped. */
  readonly path: string;
  /** Maps path parameters to input fields with other names. */
  readonly params?: Readonly<Record<string, string>>;
  /** 200, or 201 if a named resource is created. */
  readonly status?: 200 | 201;
  /** Answers that promise later work get status 202. */
  readonly accepted?: (answer: Readonly<Record<string, unknown>>) => boolean;
  /** The body limit, if it isn't API_BODY_DEFAULT_MAX_BYTES. */
  readonly bodyMaxBytes?: number;
  /**
   * The whole body is one field, and the others are in the query. Without it the body is a JSON object of all fields.
   */
  readonly body?: RawBody;
  /** If two operations share a route, this one is meant if the body has this field. */
  readonly when?: string;
  /** The answer's `version` is its ETag; If-Match and If-None-Match fill a write's `if_version` or `if_exists`. */
  readonly versioned?: true;
}

export interface RawBody {
  readonly field: string;
  /** Any JSON, or bytes; for bytes the field's schema takes `Bytes`. */
  readonly as: 'json' | 'bytes';
  /** The field that gets the Content-Type of a body of bytes. */
  readonly typeField?: string;
  /** Fields allowed in the query (default: all others). */
  readonly query?: readonly string[];
  /** A body of this Content-Type is a JSON object of fields instead. */
  readonly objectType?: string;
}

export interface McpShape {
  readonly title: string;
  readonly destructive?: boolean;
  readonly idempotent?: boolean;
  /** Fields that the tool's schema leaves out, because every agent pays for the list of tools. */
  readonly without?: readonly string[];
  /**
   * It may ask people, and then its answer may be a task: `once` reads the request, `again` makes the call again with
   * the approval, `mail` reads what became of the mail.
   */
  readonly asks?: 'once' | 'again' | 'mail';
  /** Whether the answer contains text from outside the project. */
  readonly openWorld?: boolean;
  /** The part of the answer that outsiders wrote, which must be fenced as data. */
  readonly untrusted?: 'event' | 'events' | 'file' | 'files' | 'messages';
}

interface CliShape {
  /** `inbox claim <event_id>`: the command's words, then its positional fields. `[name]` is optional. */
  readonly usage: string;
  /** Complete command lines for help, without the leading `svc`. */
  readonly examples: readonly string[];
  /** If this field is null or an empty list, nothing was found: exit code 3. */
  readonly emptyWhenNull?: string;
  /** The table columns for `items` on a terminal. */
  readonly columns?: readonly string[];
  /** Values for fields that the API requires but the command line doesn't. */
  readonly defaults?: Readonly<Record<string, string>>;
  /** Flags named differently from their fields: `{ event_id: 'event' }` is typed as `--event`. */
  readonly flags?: Readonly<Record<string, string>>;
}

/** An agent, as a ledger entry names it. */
interface AnnouncedAgent {
  readonly agent: string;
  readonly platform: string;
}

interface Declaration<I extends z.ZodObject, O extends z.ZodType> {
  /** The tool's name; its first word is the folder, the rest is the file. */
  readonly name: string;
  readonly summary: string;
  /** At most 400 characters, because agents pay for tool descriptions. */
  readonly description: string;
  readonly scope: Scope | 'any';
  readonly input: I;
  readonly output: O;
  /** The operation's own error codes, in addition to those of every call. */
  readonly errors: readonly ErrorCode[];
  readonly effect: Effect;
  /** Every operation that touches the disk says which of its names. */
  readonly disk?: DiskNames;
  /** Input fields that take any JSON; their numbers stay exactly as written. */
  readonly exact?: readonly string[];
  /** Whether a replica may answer (`local`) or only the authority (`upstream`). */
  readonly replica: 'local' | 'upstream';
  readonly rest: RestShape;
  readonly mcp: McpShape | false;
  readonly cli: CliShape;
  /** The id that the ledger files a write under. For a refused call the output is empty. */
  readonly subject?: (
    input: z.output<I>,
    output: Partial<z.output<O>>,
  ) => string | null | undefined;
  /** The agent that the ledger entry names, if the call itself announces it. */
  readonly agent?: (output: z.output<O>) => AnnouncedAgent;
  /** Drops bytes that only `prepare` needs. `commit` gets the result, and the ledger's digest covers it. */
  readonly brief?: (input: z.output<I>) => z.output<I>;
  /** An input that every binding's tests use. */
  readonly example: z.input<I>;
}

/** The phases of a write. Only `commit` runs in the transaction, and it may await nothing but the context's stores. */
interface WritePhases<I, P, C, O> {
  /** Slow work: files, DNS, blobs. Returns plain data. */
  readonly prepare?: (context: PrepareContext, input: I) => Promise<P>;
  /**
   * Replaces the single commit: waits without a transaction or snapshot, and commits repeatedly until something
   * changes.
   */
  readonly seek?: (context: SeekContext<C>, input: I) => Promise<C>;
  /**
   * Returns what a repeat with the same Idempotency-Key needs, as small JSON. Null means there was nothing to do: the
   * ledger gets no entry, and a repeat tries again.
   */
  readonly commit: (context: WriteContext, input: I, prepared: P) => Promise<C>;
  /** Builds the answer once the commit is durable, and again for a repeat. */
  readonly answer?: (context: ReadContext, input: I, committed: C) => Promise<O>;
  /** Replaces `answer`, and first waits without a transaction or snapshot. */
  readonly wait?: (context: AfterCommitContext<I, C>, input: I, committed: C) => Promise<O>;
}

type ErasedPhases = WritePhases<unknown, unknown, unknown, unknown>;

/** What an executor runs, without the input and output types. */
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

type ErasedDeclaration = Omit<
  Declaration<z.ZodObject, z.ZodType>,
  'agent' | 'subject' | 'brief' | 'input' | 'output' | 'example'
>;

/** One operation, which REST, OpenAPI, MCP and the CLI read. */
export interface Operation extends ErasedDeclaration {
  readonly input: z.ZodObject;
  readonly output: z.ZodType;
  readonly example: Record<string, unknown>;
  readonly handler: Handler;
  readonly subjectOf: (input: unknown, output: unknown) => string | null;
  readonly briefOf: (input: unknown) => unknown;
  readonly agentOf: (output: unknown) => AnnouncedAgent | null;
}

/** What an executor runs: an operation, or a read that only pages make. */
export type Executable = Pick<
  Operation,
  'name' | 'scope' | 'effect' | 'disk' | 'exact' | 'input' | 'output' | 'handler' | 'briefOf'
>;

/** An operation as it was declared, with the types of its input and answer. */
export interface TypedOperation<I extends z.ZodObject, O extends z.ZodType> extends Operation {
  readonly input: I;
  readonly output: O;
}

/** What an operation answers. */
export type AnswerOf<T extends Pick<Operation, 'output'>> = z.output<T['output']>;

/**
 * Declares an operation. Chain exactly one of `.read` (one snapshot), `.long` (many snapshots, or a wait) or `.write`
 * (phases around one transaction).
 */
export function defineOperation<I extends z.ZodObject, O extends z.ZodType>(
  declaration: Declaration<I, O>,
) {
  const finish = (handler: Handler): TypedOperation<I, O> => {
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

/** The input field with how long the caller waits for its answer; null if an operation has none. */
export function waitField({ input }: Pick<Operation, 'input'>): string | null {
  const names = ['wait_seconds', 'timeout_seconds'];
  return names.find((name) => Object.hasOwn(input.shape, name)) ?? null;
}

/** Whether a call may wait; such a call ends when its caller is gone. */
export function mayWait({ handler }: Operation): boolean {
  if (handler.kind !== 'write') return handler.kind === 'long';
  return handler.wait !== undefined || handler.seek !== undefined;
}

/** What its callers' scopes must allow. */
type ScopeRequirement = Pick<Operation, 'scope' | 'effect'>;

/** Whether a caller's scopes allow this. */
export function mayRun(
  { scope, effect }: ScopeRequirement,
  { scopes }: Pick<Caller, 'scopes'>,
): boolean {
  return mayCall(scopes, scope, effect);
}

/** Throws SCOPE_MISSING unless a caller's scopes allow this. */
export function refuseUnscoped(operation: ScopeRequirement, caller: Pick<Caller, 'scopes'>): void {
  if (!mayRun(operation, caller)) throw scopeMissing(operation.scope);
}

/**
 * Every executor's first step: throws SCOPE_MISSING if the key may not call this, parses the input with `parseInput`,
 * and holds the names on the disk against the key's prefixes.
 */
export function admit(
  operation: Executable,
  input: unknown,
  caller: Pick<Caller, 'diskPrefixes' | 'scopes'>,
): unknown {
  refuseUnscoped(operation, caller);
  const parsed = parseInput(operation, input);
  if (operation.disk)
    refuseOutside(operation.disk, parsed as Readonly<Record<string, unknown>>, caller);
  return parsed;
}

/** Checks an input against the declaration; VALIDATION_FAILED lists the first problems with their paths. */
export function parseInput(operation: Pick<Operation, 'input' | 'exact'>, input: unknown): unknown {
  return parseFields(operation.input, plainNumbers(input ?? {}, operation.exact));
}

/** The same for input that isn't an operation's. */
export function parseFields<T extends z.ZodType>(schema: T, input: unknown): z.output<T> {
  const parsed = schema.safeParse(input, { error: problemText });
  if (parsed.success) return parsed.data;
  throw invalid(...problemsOf(parsed.error, namesOf(schema)));
}

/** The fields that an object has. */
function namesOf(schema: z.ZodType): string[] {
  return 'shape' in schema ? Object.keys(schema.shape as object) : [];
}
