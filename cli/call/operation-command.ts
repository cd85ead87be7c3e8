import { stringifyExact } from '../../shared/lib/json/exact-json.ts';
import { heldCall, leastOf } from '../../shared/lib/held-call.ts';
import { LIST_MAX } from '../../shared/lib/limits.ts';
import type { Answer, Input, OperationName } from './answers.ts';
import { checkedAnswer, type CallOptions } from './client.ts';
import type { CommandContext } from '../command.ts';
import { EXIT } from '../exit.ts';
import type { FieldShape, OperationShape } from './operation-shape.ts';
import { flagOf, isList } from './operation-spec.ts';
import { missing } from '../input/refusals.ts';
import { printPages, wantsPages, type PageQuery } from './pages.ts';
import type { View } from '../view/output.ts';
import { warn } from '../view/warnings.ts';
import { fieldValue, StandardInput } from '../input/values.ts';
import { requestOf } from '../../clients/typescript/call/request.ts';
import { machineClock, pauseWhile } from '../../clients/typescript/core/clock.ts';
import { isCut } from '../../clients/typescript/core/errors.ts';
import { wholeWait } from '../../clients/typescript/core/whole-wait.ts';

/** How an operation's answer is shown. */
type ViewOf<N extends OperationName> = (answer: Answer<N>) => View | Promise<View>;

/** Calls the operation and prints its answer, with `viewOf` if it has its own view. */
export async function runOperation<N extends OperationName>(
  shape: OperationShape<N>,
  context: CommandContext,
  viewOf: ViewOf<N> = () => ({}),
): Promise<number> {
  const answer = await printOperation(shape, context, viewOf);
  // A wait's warnings were printed when it began.
  if (shape.effect !== 'wait') warn(context, answer);
  return isNothing(shape, answer) ? EXIT.nothing : exitOf(answer);
}

/** Calls the operation and prints its answer, or all pages of a list; returns the answer, or the first page. */
export async function printOperation<N extends OperationName>(
  shape: OperationShape<N>,
  context: CommandContext,
  viewOf: ViewOf<N> = () => ({}),
): Promise<Answer<N>> {
  const { columns } = shape;
  const nothing = nothingText(shape);
  const view = async (answer: Answer<N>): Promise<View> => ({
    ...(columns && { columns }),
    ...(nothing !== null && { nothing }),
    ...(await knownView(viewOf, answer)),
  });
  const most = pageOf(shape);
  if (isList(shape) && wantsPages(context, most)) {
    const { input } = await readCall(shape, context);
    const read = (query: PageQuery): Promise<Answer<N>> =>
      send(context, callFor(shape, { ...input, ...paging(shape, query) }));
    return printPages(context, { read, viewOf: view, most });
  }
  const answer = await callOperation(shape, context);
  context.output.answer(answer, await view(answer));
  return answer;
}

/** The view; none for an answer of another form than this release knows, which is shown as it came. */
async function knownView<N extends OperationName>(
  viewOf: ViewOf<N>,
  answer: Answer<N>,
): Promise<View> {
  try {
    return await viewOf(answer);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return {};
  }
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
export type OperationRunner<N extends OperationName> = (
  context: CommandContext,
  shape: OperationShape<N>,
) => Promise<number>;

/** Runs an operation that only needs its own view. */
export function showing<N extends OperationName>(viewOf: ViewOf<N>): OperationRunner<N> {
  return (context, shape) => runOperation(shape, context, viewOf);
}

/** Calls the operation with the typed input and returns its answer. */
export async function callOperation<N extends OperationName>(
  shape: OperationShape<N>,
  context: CommandContext,
): Promise<Answer<N>> {
  const { input } = await readCall(shape, context);
  const answer = inTurns(shape, input, context);
  return shape.effect === 'wait' ? context.output.spin('Waiting', answer) : answer;
}

/** Makes one call of an operation. */
export async function send<N extends OperationName>(
  { client, signal }: Pick<CommandContext, 'client' | 'signal'>,
  { method, path, options }: OperationCall<N>,
  more: Pick<CallOptions, 'step'> = {},
): Promise<Answer<N>> {
  return checkedAnswer<N>(await client().send(method, path, { ...options, ...more, signal }));
}

/** Calls again while nothing came and time is left, because the service limits how long a call waits. */
async function inTurns<N extends OperationName>(
  shape: OperationShape<N>,
  input: object,
  context: CommandContext,
): Promise<Answer<N>> {
  const { client, signal } = context;
  const isEmpty = (answer: Answer<N>): boolean => isNothing(shape, answer);
  const wait = waitOf(shape);
  const { name = '', maximum = Infinity } = wait ?? {};
  let left = waitedSeconds(shape, input);
  for (let turn = 0; ; turn += 1) {
    const seconds = Math.min(left, maximum);
    // Each turn of a write is a call of its own, not a repetition.
    const step = turn === 0 ? {} : { step: String(turn) };
    const first = callFor(shape, turn === 0 ? input : { ...input, [name]: seconds });
    const call = wait
      ? heldCall({
          seconds,
          leastSeconds: leastOf(name),
          send: (held) => send(context, held === seconds ? first : first.again(held), step),
          isCut,
          pause: (ms) => pauseWhile(machineClock, ms, signal),
        })
      : send(context, first, step);
    const isWait = shape.effect === 'wait';
    const answer = await (isWait
      ? wholeWait({ client: client(), seconds, signal }, call, isEmpty)
      : call);
    left -= seconds;
    if (left <= 0 || !isEmpty(answer)) return answer;
  }
}

/** The HTTP request for an operation. */
export interface OperationCall<N extends OperationName = OperationName> {
  readonly input: Input<N>;
  readonly method: string;
  readonly path: string;
  readonly options: CallOptions;
  /** How long the server may hold its answer. */
  readonly seconds: number;
  /** Whether the user said how long. */
  readonly isTimed: boolean;
  /** The same call, but the server may hold it for this many seconds. */
  readonly again: (seconds: number) => OperationCall<N>;
}

/** Builds the operation's request from the command line. */
export async function readCall<N extends OperationName>(
  shape: OperationShape<N>,
  context: Pick<CommandContext, 'args' | 'options' | 'signal'>,
): Promise<OperationCall<N>> {
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
function waitedSeconds(shape: OperationShape, input: object): number {
  const wait = waitOf(shape);
  return Number((wait && Reflect.get(input, wait.name)) ?? wait?.default ?? 0);
}

/** The request for an input. A wait is cut to what the server holds a call for. */
export function callFor<N extends OperationName>(
  shape: OperationShape<N>,
  input: object,
): OperationCall<N> {
  const seconds = waitedSeconds(shape, input);
  const wait = waitOf(shape);
  const held = Math.min(seconds, wait?.maximum ?? seconds);
  const isTimed = wait !== undefined && Reflect.get(input, wait.name) !== undefined;
  const fields = isTimed ? { ...input, [wait.name]: held } : input;
  const { method, path, options } = requestOf(shape, fields, stringifyExact);
  const timing = wait ? { timeoutMs: held * 1000 + WAIT_MARGIN_MS } : {};
  const again = (left: number): OperationCall<N> =>
    callFor(shape, wait ? { ...input, [wait.name]: left } : input);
  return {
    input,
    method,
    path,
    options: { ...timing, ...options },
    seconds,
    isTimed,
    again,
  };
}

/** Statuses of a request, or of mail that needed one, that stop the work. */
const STOPPING: ReadonlySet<unknown> = new Set(['denied', 'expired', 'needs_context', 'cancelled']);

/** The exit code for a decision that is open or made, or for approved mail that still failed. */
export function exitOf(answer: object | null): number {
  const isRequest = answer !== null && 'request_id' in answer && 'status' in answer;
  const status = isRequest ? answer.status : undefined;
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

function isNothing({ emptyWhenNull }: OperationShape, answer: object | null): boolean {
  if (emptyWhenNull === undefined) return false;
  const found: unknown = answer && Reflect.get(answer, emptyWhenNull);
  return found === null || (Array.isArray(found) && found.length === 0);
}
