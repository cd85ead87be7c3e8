import { isObject } from '../shared/untyped.ts';
import type { CallOptions } from './client.ts';
import type { CommandContext } from './command.ts';
import { EXIT } from './exit.ts';
import type { OperationShape } from './operation-shape.ts';
import { flagOf } from './operation-spec.ts';
import { missing } from './input/parse.ts';
import { plainText } from './view/terminal-text.ts';
import { fieldValue, StandardInput } from './input/values.ts';
import { wholeWait } from './work/cut-short.ts';

/** Calls the operation and shows its answer. */
export async function runOperation(
  shape: OperationShape,
  context: CommandContext,
): Promise<number> {
  const answer = await callOperation(shape, context);
  const { columns } = shape;
  context.output.answer(answer, columns ? { columns } : {});
  return isNothing(shape, answer) ? EXIT.nothing : exitOf(answer);
}

/** The answer of the operation for what was typed. */
export async function callOperation(
  shape: OperationShape,
  context: CommandContext,
): Promise<unknown> {
  const input = await readInput(shape, context);
  const { method, path, options, seconds } = requestOf(shape, input);
  const { env, output, signal } = context;
  const client = context.client();
  const call = client.call(method, path, { ...options, signal });
  if (shape.effect !== 'wait') return call;
  const isEmpty = (answer: unknown): boolean => isNothing(shape, answer);
  return output.spin('Waiting', wholeWait({ client, env, seconds, signal }, call, isEmpty));
}

/** The input of the operation from arguments and flags. */
async function readInput(
  shape: OperationShape,
  { args, options, signal }: Pick<CommandContext, 'args' | 'options' | 'signal'>,
): Promise<Record<string, unknown>> {
  const stdin = new StandardInput(signal);
  const input: Record<string, unknown> = {};
  for (const field of shape.fields) {
    const flag = flagOf(field);
    const given = args[field.name] ?? options[flag.slice(2)] ?? shape.defaults[field.name];
    if (given !== undefined) {
      input[field.name] = await fieldValue(field, given, stdin);
    } else if (field.required) {
      throw missing(`${flag} is missing.`, shape);
    }
  }
  return input;
}

/** How much longer than asked a wait may be silent. */
const WAIT_MARGIN_MS = 15_000;

/** The request for an input: path, then query (GET and DELETE) or body. */
function requestOf(
  shape: OperationShape,
  input: Readonly<Record<string, unknown>>,
): { method: string; path: string; options: CallOptions; seconds: number } {
  const { method, path, params, effect, fields } = shape;
  const rest = { ...input };
  const target = path.replace(/\{(\w+)\+?\}/g, (_, parameter: string) => {
    const name = params[parameter] ?? parameter;
    const value = plainText(rest[name] ?? '');
    delete rest[name];
    return encodeURIComponent(value);
  });
  const wait = fields.find(({ name }) => name === 'timeout_seconds' || name === 'wait_seconds');
  const seconds = Number(input[wait?.name ?? ''] ?? wait?.default ?? 0);
  const timing = effect === 'wait' ? { timeoutMs: seconds * 1000 + WAIT_MARGIN_MS } : {};
  return { method, path: target, options: { ...timing, ...carried(shape, rest) }, seconds };
}

/** What does not stand in the path: in the query (GET and DELETE) or the body; or one field is the body. */
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

/** Whether what was asked of a person is decided, and how. */
function exitOf(answer: unknown): number {
  const status = isObject(answer) && 'request_id' in answer ? answer['status'] : undefined;
  if (status === 'pending') return EXIT.pending;
  return status === 'denied' || status === 'expired' ? EXIT.denied : EXIT.done;
}

function isNothing({ emptyWhenNull }: OperationShape, answer: unknown): boolean {
  if (emptyWhenNull === undefined) return false;
  if (answer === null) return true;
  return isObject(answer) && answer[emptyWhenNull] === null;
}
