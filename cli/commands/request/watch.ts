import { pluralize } from '../../../shared/lib/pluralize.ts';
import { REQUEST_STATUSES } from '../../../shared/rules/requests/request-state.ts';
import type { Request } from '../../call/answers.ts';
import type { CommandContext, Declaration } from '../../command.ts';
import { EXIT } from '../../exit.ts';
import { switchOption, textArgument, textOption } from '../../input/option-values.ts';
import { exitOf } from '../../call/operation-command.ts';
import { decisionMark, decisionSentence, type Names } from '../../approvals/decision.ts';
import {
  LOOK_EVERY_MS,
  readAtFirst,
  readRequest,
  retryingCalls,
  untilDecided,
} from '../../approvals/follow.ts';
import { ChannelNames } from '../../approvals/names.ts';
import { confirmOwn } from '../../approvals/received.ts';
import { requestView } from '../../approvals/request-view.ts';
import { table, type Look } from '../../view/table.ts';
import { safeJson, cutToWidth, safeLine } from '../../view/terminal-text.ts';
import type { RetryingCalls } from '../../../clients/typescript/core/retrying-calls.ts';
import { sleep } from '../../../clients/typescript/core/clock.ts';

export const declaration: Declaration = {
  summary: 'Watch pending requests, or wait for one.',
  description:
    "Without an id: shows pending requests and decisions live; in a pipe, prints a JSON line for each request asked or decided. With an id: waits for that decision; exit code 0 means go ahead, 5 means don't. Checks every two seconds and survives a daemon restart.",
  args: [
    {
      name: 'request_id',
      required: false,
      summary: 'Wait for this request only, `req_…`.',
      stored: 'requests',
    },
  ],
  options: [
    {
      flag: 'status',
      value: 'STATUS',
      summary: 'Only requests with this status (default pending).',
      choices: REQUEST_STATUSES,
    },
    { flag: 'once', summary: 'Show the current requests and exit.' },
  ],
  examples: [
    'request watch',
    'request watch req_01j9z3k4m5n6p7q8r9s0t1v2w3 && ./deploy.sh',
    'request watch | jq -r \'select(.change == "decided") | .request.status\'',
  ],
};

/** More requests than can be pending. */
const PAGE = 100;

/** `svc request watch`: shows requests as they arrive and are decided, or waits for one to be decided. */
export async function run(context: CommandContext): Promise<number> {
  const id = textArgument(context, 'request_id');
  if (id !== undefined) return watchOne(context, id);
  const calls = retryingCalls(context);
  const watch = new Watch(context, calls);
  // The first read retries only a proxy's errors, so any other error shows at once.
  const first = await readAtFirst(() => readPage(context), calls);
  if (first === null) return EXIT.interrupted;
  await watch.look(first);
  if (switchOption(context, 'once')) return EXIT.done;
  while (await sleep(LOOK_EVERY_MS, context.signal)) {
    const page = await calls.answer(() => readPage(context));
    if (page === null) break;
    await watch.look(page);
  }
  return EXIT.interrupted;
}

/** Returns the decision's exit code. */
async function watchOne(context: CommandContext, id: string): Promise<number> {
  const { output, signal } = context;
  const isOnce = switchOption(context, 'once');
  const deciding = isOnce ? readRequest(context, id) : untilDecided(context, id);
  const record = await output.spin('Waiting for a person', deciding);
  if (record === null) return EXIT.interrupted;
  const names = new ChannelNames(context.client(), signal);
  const known = output.json ? new Map() : await names.ofIds(record.approvers);
  output.answer(record, requestView(record, known));
  await confirmOwn(context, record);
  return exitOf(record);
}

async function readPage(context: CommandContext): Promise<Request[]> {
  const query = { status: textOption(context, 'status') ?? 'pending', limit: PAGE };
  const { client, signal } = context;
  const { items } = await client().call('request_list', query, { signal });
  // Oldest first, so that new requests appear at the end.
  return items.toReversed();
}

/** Remembers the requests it has seen and prints changes. */
class Watch {
  readonly #context: CommandContext;
  readonly #calls: RetryingCalls;
  readonly #names: ChannelNames;
  /** By request id. */
  #seen: ReadonlyMap<string, Request> = new Map();

  constructor(context: CommandContext, calls: RetryingCalls) {
    this.#context = context;
    this.#calls = calls;
    this.#names = new ChannelNames(context.client(), context.signal);
  }

  /** Compares the current requests with the last ones and prints what changed. */
  async look(page: readonly Request[]): Promise<void> {
    const now = new Map(page.map((request) => [request.request_id, request]));
    const fresh = page.filter(({ request_id: id }) => !this.#seen.has(id));
    const gone = [...this.#seen.values()].filter(({ request_id: id }) => !now.has(id));
    this.#seen = now;
    const decided = [...(await this.#ended(gone)), ...fresh.filter((one) => !isPending(one))];
    if (this.#context.output.json) this.#print(fresh.filter(isPending), decided);
    else await this.#draw(page.filter(isPending), decided);
  }

  /** The outcomes of requests that left the page. A decided request that leaves is just old. */
  async #ended(gone: readonly Request[]): Promise<Request[]> {
    const ended: Request[] = [];
    for (const { request_id: id } of gone.filter(isPending)) {
      const record = await this.#calls.answer(() => readRequest(this.#context, id));
      if (record && !isPending(record)) ended.push(record);
    }
    return ended;
  }

  /** Prints one line of JSON per change. */
  #print(asked: readonly Request[], decided: readonly Request[]): void {
    const { output } = this.#context;
    for (const request of asked) output.line(safeJson({ change: 'asked', request }, 0));
    for (const request of decided) output.line(safeJson({ change: 'decided', request }, 0));
  }

  async #draw(pending: readonly Request[], decided: readonly Request[]): Promise<void> {
    const names = await this.#names.of(...decided);
    const isLive = (textOption(this.#context, 'status') ?? 'pending') === 'pending';
    this.#context.output.redraw((look) => ({
      kept: decided.map((request) => decidedLine(request, names, look)),
      live: isLive ? waitingLines(pending, look) : [],
    }));
  }
}

function isPending({ status }: Request): boolean {
  return status === 'pending';
}

const COLUMNS = ['asked_at', 'kind', 'risk', 'what', 'expires_at', 'request_id'];

/** The requests that wait for a person, oldest first. */
function waitingLines(requests: readonly Request[], look: Look): string[] {
  const { length } = requests;
  if (length === 0) return [look.faint('No requests are waiting.')];
  const rows = requests.map((request) => ({
    ...request,
    asked_at: request.created_at,
    what: whatOf(request),
  }));
  const head = `${pluralize(length, 'request waits', 'requests wait')} for a person`;
  return [look.yellow(cutToWidth(head, look.columns)), ...table(rows, COLUMNS, look)];
}

/** One line for a decided request. */
function decidedLine(request: Request, names: Names, look: Look): string {
  const sentence = `${decisionMark(request, look)} ${decisionSentence(request, names)}`;
  return `${sentence} ${look.faint(safeLine(`— ${whatOf(request)} (${request.request_id})`))}`;
}

function whatOf({ action, summary, kind }: Request): string {
  // For other kinds the summary already names the action.
  return kind === 'approval' ? `${action}: ${summary}` : summary;
}
