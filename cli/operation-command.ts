import { stringifyExact } from '../shared/lib/json/exact-json.ts';
import { isObject } from '../shared/lib/guards.ts';
import { heldCall, leastOf } from '../shared/lib/held-call.ts';
import { LIST_MAX } from '../shared/lib/limits.ts';
import type { CallOptions } from './client.ts';
import type { CommandContext } from './command.ts';
import { EXIT } from './exit.ts';
import type { FieldShape, OperationShape } from './operation-shape.ts';
import { flagOf, isList } from './operation-spec.ts';
import { missing } from './input/refusals.ts';
import { printPages, wantsPages, type PageQuery } from './pages.ts';
import type { View } from './view/output.ts';
import { warn } from './view/warnings.ts';
import { fieldValue, StandardInput } from './input/values.ts';
import { requestOf } from '../clients/typescript/call/request.ts';
import { machineClock, pauseWhile } from '../clients/typescript/core/clock.ts';
import { isCut } from '../clients/typescript/core/errors.ts';
import { wholeWait } from '../clients/typescript/core/whole-wait.ts';

/** Calls the operation and prints its answer, with `viewOf` if it has its own view. */
export async function runOperation(
  shape: OperationShape,
  context: CommandContext,
  viewOf: (answer: unknown) => View | Promise<View> = () => ({}),
): Promise<number> {
  const answer = await printOperation(shape, context, viewOf);
  // A wait's warnings were printed when it began.
  if (shape.effect !== 'wait') warn(context, answer);
  return isNothing(shape, answer) ? EXIT.nothing : exitOf(answer);
}

/** Calls the operation and prints its answer, or all pages of a list; returns the answer, or the first page. */
export async function printOperation(
  shape: OperationShape,
  context: CommandContext,
  viewOf: (answer: unknown) => View | Promise<View> = () => ({}),
): Promise<unknown> {
  const { columns } = shape;
  const nothing = nothingText(shape);
  const view = async (answer: unknown): Promise<View> => ({
    ...(columns && { columns }),
    ...(nothing !== null && { nothing }),
    ...(await viewOf(answer)),
  });
  const most = pageOf(shape);
  if (isList(shape) && wantsPages(context, most)) {
    const { input } = await readCall(shape, context);
    const read = (query: PageQuery): Promise<unknown> => {
      const { method, path, options } = callFor(shape, { ...input, ...paging(shape, query) });
      return context.client().call(method, path, { ...options, signal: context.signal });
    };
    return printPages(context, { read, viewOf: view, most });
  }
  const answer = await callOperation(shape, context);
  context.output.answer(answer, await view(answer));
  return answer;
}

/** The most rows that a page of the operation may have. */
function pageOf({ fields }: OperationShape): number {
  return fields.find(({ name }) => name === 'limit')?.maximum ?? LIST_MAX;
}

/** The members of the query that the operation takes: short lists have no pages. */
function paging({ fields }: OperationShape, query: PageQuery): PageQuery {
  return fields.some(({ name }) => name === 'cursor') ? query : {};
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
  const { input } = await readCall(shape, context);
  const answer = inTurns(shape, input, context);
  return shape.effect === 'wait' ? context.output.spin('Waiting', answer) : answer;
}

/** Calls again while nothing came and time is left, because the service holds a call only so long. */
async function inTurns(
  shape: OperationShape,
  input: Readonly<Record<string, unknown>>,
  { client, signal }: CommandContext,
): Promise<unknown> {
  const isEmpty = (answer: unknown): boolean => isNothing(shape, answer);
  const wait = waitOf(shape);
  const { name = '', maximum = Infinity } = wait ?? {};
  let left = waitedSeconds(shape, input);
  for (let turn = 0; ; turn += 1) {
    const seconds = Math.min(left, maximum);
    // Each turn of a write is a call of its own, not a repetition.
    const step = turn === 0 ? {} : { step: String(turn) };
    const send = ({ method, path, options }: OperationCall): Promise<unknown> =>
      client().call(method, path, { ...options, ...step, signal });
    const first = callFor(shape, turn === 0 ? input : { ...input, [name]: seconds });
    const call = wait
      ? heldCall({
          seconds,
          leastSeconds: leastOf(name),
          send: (held) => send(held === seconds ? first : first.again(held)),
          isCut,
          pause: (ms) => pauseWhile(machineClock, ms, signal),
        })
      : send(first);
    const isWait = shape.effect === 'wait';
    const answer = await (isWait
      ? wholeWait({ client: client(), seconds, signal }, call, isEmpty)
      : call);
    left -= seconds;
    if (left <= 0 || !isEmpty(answer)) return answer;
  }
}

/** The HTTP request for an operation. */
export interface OperationCall {
  readonly input: Readonly<Record<string, unknown>>;
  readonly method: string;
  readonly path: string;
  readonly options: CallOptions;
  /** How long the server may hold its answer. */
  readonly seconds: number;
  /** Whether the user said how long. */
  readonly isTimed: boolean;
  /** The same call, but the server may hold it for this many seconds. */
  readonly again: (seconds: number) => OperationCall;
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
      // Words that were typed one by one may contain commas.
      const isWords = Array.isArray(argument);
      input[field.name] = isWords ? argument : await fieldValue(field, given, stdin, typed);
    } else if (field.required) {
      throw missing(`${flag} is missing.`, shape);
    }
  }
  return input;
}

/** How much longer than its timeout a wait may be silent. */
const WAIT_MARGIN_MS = 15_000;

function waitOf({ fields }: OperationShape): FieldShape | undefined {
  return fields.find(({ wait }) => wait);
}

/** How long the whole wait is to last, which may take several calls. */
function waitedSeconds(shape: OperationShape, input: Readonly<Record<string, unknown>>): number {
  const wait = waitOf(shape);
  return Number(input[wait?.name ?? ''] ?? wait?.default ?? 0);
}

/** The request for an input. A wait is cut to what the server holds a call for. */
export function callFor(
  shape: OperationShape,
  input: Readonly<Record<string, unknown>>,
): OperationCall {
  const seconds = waitedSeconds(shape, input);
  const wait = waitOf(shape);
  const held = Math.min(seconds, wait?.maximum ?? seconds);
  const isTimed = wait !== undefined && input[wait.name] !== undefined;
  const fields = isTimed ? { ...input, [wait.name]: held } : input;
  const { method, path, options } = requestOf(shape, fields, stringifyExact);
  const timing = wait ? { timeoutMs: held * 1000 + WAIT_MARGIN_MS } : {};
  const again = (left: number): OperationCall =>
    callFor(shape, wait ? { ...input, [wait.name]: left } : input);
  return { input, method, path, options: { ...timing, ...options }, seconds, isTimed, again };
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

/** What's printed if nothing was found; null if the answer itself shows what's missing. */
export function nothingText(shape: OperationShape): string | null {
  const { emptyWhenNull, positional } = shape;
  if (emptyWhenNull === undefined) return null;
  if (waitOf(shape)) return 'Nothing came in time.';
  return `Nothing is stored for this ${positional[0]?.name.replace('_id', '') ?? 'name'}.`;
}

function isNothing({ emptyWhenNull }: OperationShape, answer: unknown): boolean {
  if (emptyWhenNull === undefined) return false;
  if (answer === null) return true;
  const found = isObject(answer) ? answer[emptyWhenNull] : undefined;
  return found === null || (Array.isArray(found) && found.length === 0);
}
