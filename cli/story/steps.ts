import { isObject } from '../../shared/lib/guards.ts';
import { stringifyExact } from '../../shared/lib/json/exact-json.ts';
import { canonicalJson } from '../../shared/rules/canonical-json.ts';
import { actorWords } from '../../shared/rules/actor.ts';
import { openDigest, type LedgerEntry } from '../../shared/rules/ledger-chain.ts';
import { clockText, type Look } from '../view/table.ts';
import { hangingNote, plainText, safeLine, textWidth } from '../view/terminal-text.ts';
import type { Opening } from './ledger-file.ts';

type Fields = Readonly<Record<string, unknown>>;

/** One thing that happened, in words. `proven` means that the value matched the entry's digest. */
export interface Step {
  readonly seq: number;
  readonly at: string;
  readonly op: string;
  readonly text: string;
  /** Values that were shown or used. */
  readonly values?: unknown;
  readonly proven: boolean;
}

/** What is known about an event and its requests. */
export interface Facts {
  readonly eventId: string;
  readonly event: Fields | null;
  readonly requests: readonly Fields[];
  readonly entries: readonly LedgerEntry[];
  readonly openings: readonly Opening[];
  /** What keys and people are called, by id; a file has none. */
  readonly names?: Readonly<Record<string, string>>;
}

/** An event's history: every entry about it in words, oldest first. */
export function stepsOf(facts: Facts): Step[] {
  const opened = new Map(facts.openings.map((one) => [one.opens, one]));
  const told = new Set<string>();
  return asTheyCame(facts.entries).map((entry, index, entries) => {
    const { seq, at, op } = entry;
    const found = opened.get(seq);
    // Trust the value only if it has the digest recorded in the ledger.
    const fits = found && openDigest(found.salt, canonicalJson(found.value)) === entry.input_digest;
    const opening = fits ? found.value : undefined;
    const repeats = told.has(`${op} ${entry.subject}`);
    if (entry.outcome === 'ok') told.add(`${op} ${entry.subject}`);
    const known = opening ?? requestOf(facts, entry.subject);
    const { event, names = {} } = facts;
    const cause = entries[index - 1];
    const { text, values } = wordsOf(entry, { event, known, repeats, names, cause });
    const shown = values === undefined || values === null ? {} : { values };
    return { seq, at, op, text, ...shown, proven: opening !== undefined };
  });
}

/** Ends of a call that the ledger has before the call itself. */
const CAUSED: ReadonlySet<string> = new Set(['event.parked', 'request.decided']);

/** A call before what it brought about in the same moment. */
function asTheyCame(entries: readonly LedgerEntry[]): LedgerEntry[] {
  const sorted: LedgerEntry[] = [];
  for (const entry of entries) {
    let at = sorted.length;
    while (isCausedBy(sorted[at - 1], entry)) at -= 1;
    sorted.splice(at, 0, entry);
  }
  return sorted;
}

function isCausedBy(before: LedgerEntry | undefined, call: LedgerEntry): boolean {
  if (before === undefined || !/^(?:ask_|inbox_nack)/.test(call.op)) return false;
  return CAUSED.has(before.op) && before.at === call.at;
}

/** The facts that a file's openings prove, without a server. */
export function factsOf(
  eventId: string,
  { entries, openings }: Pick<Facts, 'entries' | 'openings'>,
): Facts {
  const requests = openings.map(({ value }) => value);
  const event = requests.map((one) => one['event']).find((one) => isObject(one)) ?? null;
  return { eventId, event, requests: requests.filter((one) => 'shown' in one), entries, openings };
}

function requestOf({ requests }: Facts, subject: string | null): Fields | undefined {
  return requests.find((one) => one['request_id'] === subject);
}

interface StepContext {
  readonly event: Fields | null;
  readonly known: Fields | undefined;
  readonly repeats: boolean;
  readonly names: Readonly<Record<string, string>>;
  /** The step before. */
  readonly cause: LedgerEntry | undefined;
}

interface Words {
  readonly text: string;
  readonly values?: unknown;
}

function wordsOf(entry: LedgerEntry, { event, known, repeats, names, cause }: StepContext): Words {
  const { op, outcome, code } = entry;
  const who = whoOf(entry, names);
  if (outcome === 'error') return { text: `${who} was refused: ${op}, ${code}` };
  if (op === 'event.received') return { text: arrivalOf(event) };
  if (op === 'ask_approval' || op === 'ask_human') {
    const shown = part(known, 'shown');
    const what = [shown['action'], shown['summary']].filter(Boolean).map(plainText).join(': ');
    const asked = repeats ? 'looked up its question' : 'asked';
    return {
      text: `${who} ${asked} ${what}`.trimEnd(),
      ...(!repeats && { values: shown['bind'] }),
    };
  }
  if (op === 'request.decided') return { text: decisionOf(part(known, 'ended')) };
  if (op === 'request.voted') return { text: voteOf(part(known, 'vote')) };
  if (op === 'approval.spent') return spentWords(part(known, 'done'));
  const told = PLAIN.get(op)?.(who, { repeats, until: untilOf(entry, cause) });
  return { text: told ?? `${op}, ${who}` };
}

interface Circumstances {
  readonly repeats: boolean;
  readonly until: string;
}

const PLAIN: ReadonlyMap<string, (who: string, how: Circumstances) => string> = new Map(
  Object.entries({
    inbox_claim: (who) => `${who} claimed it`,
    inbox_next: (who) => `${who} claimed it`,
    'event.claimed': (who) => `${who} claimed it, with others in one call`,
    inbox_extend: (who) => `${who} extended the lease`,
    inbox_nack: (who) => `${who} gave it back`,
    'event.parked': (who, { until }) => `${who} parked it ${until}`,
    inbox_ack: (who, { repeats }) =>
      `${who} ${repeats ? 'said again that it finished it' : 'finished it'}`,
    inbox_requeue: (who) => `${who} put it back into the queue`,
    inbox_replay: (who) => `${who} replayed it`,
    'event.replayed': (who) => `${who} replayed it, with others in one call`,
    request_use: (who) => `${who} used the approval`,
    request_received: (who) => `${who} asked, and has the answer`,
    request_withdraw: (who) => `${who} took the question back`,
    'event.retried': () => 'Its pause was over, so it went back into the queue',
    'event.resumed': () => 'It went back into the queue',
    'lease.expired': () => 'The lease ran out',
    'request.expired': () => 'Nobody decided in time',
    'request.withdrawn': () => 'The question was withdrawn',
  }),
);

/** Entries from before actors were recorded name keys only. */
function whoOf(
  { actor = null, agent, key_id: key }: LedgerEntry,
  names: StepContext['names'],
): string {
  const id = actor ?? key;
  if (id === null) return 'Somebody (not recorded)';
  const words = actorWords(id) ?? names[id];
  if (agent !== null) return `${agent} (${words ?? id})`;
  return words === undefined ? id : words.charAt(0).toUpperCase() + words.slice(1);
}

/** The ledger keeps only a digest of what an event waits for; whether that is a question shows in the call of the same moment. */
function untilOf({ at }: LedgerEntry, cause: LedgerEntry | undefined): string {
  const asked = cause !== undefined && cause.at === at && cause.op.startsWith('ask_');
  return asked ? 'until the answer' : 'until something else ends';
}

function arrivalOf(event: Fields | null): string {
  if (!event) return 'It arrived';
  const { channel, type, source, verified } = event;
  const signed =
    channel === 'webhook' && (verified === true ? ', signature verified' : ', not signed');
  return `A ${plainText(channel)} arrived: ${plainText(type)} from ${plainText(source)}${signed || ''}`;
}

function voteOf({ by, channel, comment, given, needed }: Fields): string {
  const who = plainText(by ?? channel ?? 'somebody');
  const count = needed === undefined ? '' : `: ${plainText(given)} of ${plainText(needed)}`;
  return `${who} approved${count}${saidOf(comment)}`;
}

function decisionOf(ended: Fields): string {
  const { status, decision, comment, by, decided_by: decidedBy } = ended;
  const who = plainText(by ?? decidedBy ?? 'somebody');
  const chosen = decision === null || decision === undefined ? '' : `: ${plainText(decision)}`;
  return `${who} decided: ${plainText(status).replaceAll('_', ' ')}${chosen}${saidOf(comment)}`;
}

function saidOf(comment: unknown): string {
  return comment === null || comment === undefined ? '' : `, "${plainText(comment)}"`;
}

function spentWords(done: Fields): Words {
  const { bind, result } = done;
  const came = result === null || result === undefined ? '' : `, result ${stringifyExact(result)}`;
  return { text: `The approval was spent on the act${came}`, values: bind };
}

function part(known: Fields | undefined, name: string): Fields {
  const found = known?.[name];
  return isObject(found) ? found : {};
}

/** For a terminal: when, how long after the step before, what, and which entry says so. */
export function stepLines(steps: readonly Step[], look: Look): string[] {
  return steps.flatMap((step, index) => {
    const before = steps[index - 1];
    const time = before
      ? `+${duration(Date.parse(step.at) - Date.parse(before.at))}`
      : clockText(step.at);
    const mark = `#${step.seq}${step.proven ? ' ✓' : ''}`;
    const lead = `${time.padStart(TIME_COLUMNS)}  `;
    const room = look.columns - textWidth(mark) - 2;
    const lines = hangingNote(lead, safeLine(step.text), room);
    lines.push(`${lines.pop() ?? ''}  ${look.faint(mark)}`);
    if (step.values === undefined) return lines;
    return [...lines, `${' '.repeat(TIME_COLUMNS)}  ${safeLine(stringifyExact(step.values))}`];
  });
}

const TIME_COLUMNS = 19;
const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const;

/** `3m 20s`, or milliseconds below one second. */
function duration(ms: number): string {
  const first = UNITS.findIndex(([, size]) => ms >= size);
  const [unit, size] = UNITS[first] ?? ['ms', 1];
  const amount = `${Math.floor(ms / size)}${unit}`;
  const next = UNITS[first + 1];
  const rest = first === -1 || !next ? 0 : Math.floor((ms % size) / next[1]);
  return rest === 0 || !next ? amount : `${amount} ${rest}${next[0]}`;
}
