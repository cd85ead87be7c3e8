import { isObject } from '../shared/lib/guards.ts';
import type { CallOptions } from './client.ts';
import type { CommandContext } from './command.ts';
import { EXIT } from './exit.ts';
import type { OperationShape } from './operation-shape.ts';
import { flagOf } from './operation-spec.ts';
import { missing } from './input/refusals.ts';
import type { View } from './view/output.ts';
import { plainText } from './view/terminal-text.ts';
import { warn } from './view/warnings.ts';
import { fieldValue, StandardInput } from './input/values.ts';
import { wholeWait } from './work/truncated-wait.ts';

/** Calls the operation and prints its answer, with `viewOf` if it has its own view. */
export async function runOperation(
  shape: OperationShape,
  context: CommandContext,
  viewOf: (answer: unknown) => View = () => ({}),
): Promise<number> {
  const answer = await callOperation(shape, context);
  const { columns } = shape;
  context.output.answer(answer, { ...(columns && { columns }), ...viewOf(answer) });
  // A wait's warnings were printed when it began.
  if (shape.effect !== 'wait') warn(context, answer);
  return isNothing(shape, answer) ? EXIT.nothing : exitOf(answer);
}

/** Runs an operation's command. */
export type OperationRun = (context: CommandContext, shape: OperationShape) => Promise<number>;

/** Runs an operation that only needs its own view. */
export function showing(viewOf: (answer: unknown) => View): OperationRun {
  return (context, shape) => runOperation(shape, context, viewOf);
}

/** Calls the operation with the typed input and returns its answer. */
export async function callOperation(
  shape: OperationShape,
  context: CommandContext,
): Promise<unknown> {
  const { method, path, options, seconds } = await readCall(shape, context);
  const { output, signal } = context;
  const client = context.client();
  const call = client.call(method, path, { ...options, signal });
  if (shape.effect !== 'wait') return call;
  const isEmpty = (answer: unknown): boolean => isNothing(shape, answer);
  return output.spin('Waiting', wholeWait({ client, seconds, signal }, call, isEmpty));
}

/** The HTTP request for an operation. */
export interface OperationCall {
  readonly input: Readonly<Record<string, unknown>>;
  readonly method: string;
  readonly path: string;
  readonly options: CallOptions;
  /** How long the server may hold its answer. */
  readonly seconds: number;
}

/** Builds the operation's request from the command line. */
export async function readCall(
  shape: OperationShape,
  context: Pick<CommandContext, 'args' | 'options' | 'signal'>,
): Promise<OperationCall> {
  return callFor(shape, await readInput(shape, context));
}

/** Builds the operation's input from arguments and flags. */
async function readInput(
  shape: OperationShape,
  { args, options, signal }: Pick<CommandContext, 'args' | 'options' | 'signal'>,
): Promise<Record<string, unknown>> {
  const stdin = new StandardInput(signal);
  const input: Record<string, unknown> = {};
  for (const field of shape.fields) {
    const flag = flagOf(field);
    const argument = args[field.name];
    const given = argument ?? options[flag.slice(2)] ?? shape.defaults[field.name];
    if (given !== undefined) {
      const typed = argument === undefined ? flag : `<${field.name}>`;
      input[field.name] = await fieldValue(field, given, stdin, typed);
    } else if (field.required) {
      throw missing(`${flag} is missing.`, shape);
    }
  }
  return input;
}

/** How much longer than its timeout a wait may be silent. */
const WAIT_MARGIN_MS = 15_000;

/** The request for an input: its path, then its query (GET and DELETE) or body. */
export function callFor(
  shape: OperationShape,
  input: Readonly<Record<string, unknown>>,
): OperationCall {
  const { method, path, params, fields } = shape;
  const rest = { ...input };
  const target = path.replace(/\{(\w+)\+?\}/g, (_, parameter: string) => {
    const name = params[parameter] ?? parameter;
    const value = plainText(rest[name] ?? '');
    delete rest[name];
    return encodeURIComponent(value);
  });
  const wait = fields.find(({ name }) => name === 'timeout_seconds' || name === 'wait_seconds');
  const seconds = Number(input[wait?.name ?? ''] ?? wait?.default ?? 0);
  const timing = wait ? { timeoutMs: seconds * 1000 + WAIT_MARGIN_MS } : {};
  return { input, method, path: target, options: { ...timing, ...carried(shape, rest) }, seconds };
}

/**
 * The fields that aren't in the path: in the query (GET and DELETE) or in the body. One field may be the whole body.
 */
function carried(
  { method, rawBody }: OperationShape,
  input: Readonly<Record<string, unknown>>,
): Pick<CallOptions, 'query' | 'body'> {
  if (method === 'GET' || method === 'DELETE') return { query: queryOf(input) };
  if (rawBody === undefined) return { body: input };
  const { [rawBody]: body = null, ...rest } = input;
  return { query: queryOf(rest), body };
}

function queryOf(input: Readonly<Record<string, unknown>>): Record<string, string | string[]> {
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [name, queryText(value)]));
}

function queryText(value: unknown): string | string[] {
  if (Array.isArray(value)) return value.map(plainText);
  return plainText(value);
}

/** Statuses of a request, or of mail that needed one, that stop the work. */
const STOPPING: ReadonlySet<unknown> = new Set(['denied', 'expired', 'needs_context', 'cancelled']);

/** The exit code for a decision that is open or made, or for approved mail that still failed. */
export function exitOf(answer: unknown): number {
  const status = isObject(answer) && 'request_id' in answer ? answer['status'] : undefined;
  if (status === 'pending') return EXIT.pending;
  if (status === 'failed') return EXIT.refused;
  return STOPPING.has(status) ? EXIT.denied : EXIT.done;
}

function isNothing({ emptyWhenNull }: OperationShape, answer: unknown): boolean {
  if (emptyWhenNull === undefined) return false;
  if (answer === null) return true;
  const found = isObject(answer) ? answer[emptyWhenNull] : undefined;
  return found === null || (Array.isArray(found) && found.length === 0);
}
