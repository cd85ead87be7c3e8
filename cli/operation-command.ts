import { isObject } from '../shared/untyped.ts';
import type { CallOptions } from './client.ts';
import type { CommandContext } from './command.ts';
import { EXIT } from './exit.ts';
import type { OperationShape } from './operation-shape.ts';
import { flagOf } from './operation-spec.ts';
import { missing } from './input/parse.ts';
import { plainText } from './view/terminal-text.ts';
import { fieldValue, StandardInput } from './input/values.ts';

/** Calls the operation and shows its answer. */
export async function runOperation(
  shape: OperationShape,
  context: CommandContext,
): Promise<number> {
  const answer = await callOperation(shape, context);
  const { columns } = shape;
  context.output.answer(answer, columns ? { columns } : {});
  return isNothing(shape, answer) ? EXIT.nothing : EXIT.done;
}

/** The answer of the operation for what was typed. */
export async function callOperation(
  shape: OperationShape,
  context: CommandContext,
): Promise<unknown> {
  const input = await readInput(shape, context);
  const { method, path, options } = requestOf(shape, input);
  const call = context.client().call(method, path, { ...options, signal: context.signal });
  return shape.effect === 'wait' ? context.output.spin('Waiting', call) : call;
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
  { method, path, params, effect, fields }: OperationShape,
  input: Readonly<Record<string, unknown>>,
): { method: string; path: string; options: CallOptions } {
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
  const inQuery = method === 'GET' || method === 'DELETE';
  const carried = inQuery ? { query: queryOf(rest) } : { body: rest };
  return { method, path: target, options: { ...timing, ...carried } };
}

function queryOf(input: Readonly<Record<string, unknown>>): Record<string, string | string[]> {
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [name, queryText(value)]));
}

function queryText(value: unknown): string | string[] {
  if (Array.isArray(value)) return value.map(plainText);
  return plainText(value);
}

function isNothing({ emptyWhenNull }: OperationShape, answer: unknown): boolean {
  if (emptyWhenNull === undefined) return false;
  if (answer === null) return true;
  return isObject(answer) && answer[emptyWhenNull] === null;
}
