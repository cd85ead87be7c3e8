import { isObject } from '../../shared/lib/guards.ts';
import type { CommandContext, Declaration } from '../command.ts';
import { barText } from '../disk/progress.ts';
import { EXIT } from '../exit.ts';
import { WATCH_OPTION } from '../input/flags.ts';
import type { View } from '../view/output.ts';
import { pairLines, type Pair } from '../view/pairs.ts';
import { countText, sizeText } from '../view/sizes.ts';
import { timeText, type Look } from '../view/table.ts';
import { plainText } from '../view/terminal-text.ts';

export const declaration: Declaration = {
  summary: "Show the project's usage and limits.",
  description:
    "Covers the disk (keys, files and open uploads), this month's link downloads, mail, the events that sources have stored, and the log kept for replicas.",
  args: [],
  options: [WATCH_OPTION],
  examples: ['usage', 'usage --json | jq .disk.used_bytes'],
  seeAlso: ['file list', 'kv list'],
};

/** `svc usage`: how much of its limits the project uses. */
export async function run({ client, output, signal }: CommandContext): Promise<number> {
  const answer = await client().call('GET', '/v1/usage', { signal });
  output.answer(answer, usageView(answer));
  return EXIT.done;
}

type Fields = Readonly<Record<string, unknown>>;

const BAR_COLUMNS = 20;

/** How full each limit is; an unexpected answer gets the default view. */
export function usageView(answer: unknown): View {
  if (!isObject(answer)) return {};
  const { disk, keys, transfer, emails, events, replica_log: log } = answer;
  if (!isObject(disk) || !isObject(keys) || !isObject(transfer)) return {};
  // Gateways of earlier releases don't send mail, or don't count events or the log.
  const mails = isObject(emails) ? mailPairs(emails) : [];
  const stored = isObject(events) ? eventPairs(events) : [];
  const kept = isObject(log) ? logPairs(log) : [];
  return {
    lines: (look) =>
      pairLines([...usagePairs(disk, keys, transfer, look), ...mails, ...stored, ...kept], look),
  };
}

function usagePairs(disk: Fields, keys: Fields, transfer: Fields, { now }: Look): Pair[] {
  const { month, resets_at: resets } = transfer;
  const parts = [
    ['files', disk['file_bytes']],
    ['keys', disk['key_bytes']],
    ['open uploads', disk['upload_bytes']],
  ] as const;
  const reset = typeof resets === 'string' ? `, resets ${timeText(resets, now)}` : '';
  return [
    ['Disk', share(disk['used_bytes'], disk['limit_bytes'], sizeText)],
    ...parts.map(([name, bytes]): Pair => [`  ${name}`, sizeText(numberOf(bytes))]),
    ['Keys', share(keys['used'], keys['limit'], countText)],
    ['Downloads', share(transfer['used_bytes'], transfer['limit_bytes'], sizeText)],
    ['  month', `${plainText(month ?? '–')}${reset}`],
  ];
}

function mailPairs({ today, day_limit, this_month, month_limit, blocked }: Fields): Pair[] {
  return [
    ['Mails today', share(today, day_limit, countText)],
    ['  month', share(this_month, month_limit, countText)],
    ...(typeof blocked === 'string' ? [['  blocked', plainText(blocked)] as const] : []),
  ];
}

/** The quota of stored events, then a line for each source. */
function eventPairs({ stored_bytes, limit_bytes, source_limits, sources }: Fields): Pair[] {
  const limits = isObject(source_limits) ? source_limits : {};
  const each = Array.isArray(sources) ? sources.filter(isObject) : [];
  return [
    ['Events', shareOrAmount(stored_bytes, limit_bytes, sizeText)],
    ...each.map((source): Pair => [`  ${plainText(source['name'])}`, sourceText(source, limits)]),
  ];
}

/** The log that replicas catch up from. */
function logPairs({ stored_bytes, limit_bytes }: Fields): Pair[] {
  return [['Replica log', amountText(stored_bytes, limit_bytes, sizeText)]];
}

/** `12 MB of 1 GB, 7 of 6,000 events this minute, 3 MB of 200 MB in 10 minutes; limited` */
function sourceText(source: Fields, limits: Fields): string {
  const { stored_bytes, events_this_minute, bytes_these_10_minutes, limited } = source;
  const parts = [
    amountText(stored_bytes, limits['stored_bytes'], sizeText),
    `${amountText(events_this_minute, limits['events_per_minute'], countText)} events this minute`,
    `${amountText(bytes_these_10_minutes, limits['bytes_per_10_minutes'], sizeText)} in 10 minutes`,
  ];
  return `${parts.join(', ')}${typeof limited === 'string' ? '; limited, senders must wait' : ''}`;
}

function amountText(used: unknown, limit: unknown, textOf: (amount: number) => string): string {
  const text = textOf(numberOf(used));
  return typeof limit === 'number' ? `${text} of ${textOf(limit)}` : text;
}

function shareOrAmount(used: unknown, limit: unknown, textOf: (amount: number) => string): string {
  return typeof limit === 'number' ? share(used, limit, textOf) : textOf(numberOf(used));
}

/** `██████░░░░░░░░░░░░░░  30%  312 MB of 1 GB` */
function share(used: unknown, limit: unknown, textOf: (amount: number) => string): string {
  const [amount, most] = [numberOf(used), numberOf(limit)];
  const part = most > 0 ? amount / most : 0;
  const percent = `${Math.floor(part * 100)}%`.padStart(4);
  return `${barText(part, BAR_COLUMNS)} ${percent}  ${textOf(amount)} of ${textOf(most)}`;
}

function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}
