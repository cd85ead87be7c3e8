import type { Answer } from '../call/answers.ts';
import type { CommandContext, Declaration } from '../command.ts';
import { barText } from '../disk/progress.ts';
import { EXIT } from '../exit.ts';
import { WATCH_OPTION } from '../input/flags.ts';
import type { View } from '../view/output.ts';
import { pairLines, type Pair } from '../view/pairs.ts';
import { nounFor } from '../../shared/lib/pluralize.ts';
import { countText, sizeText } from '../view/sizes.ts';
import { timeText, type Look } from '../view/table.ts';

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
  const answer = await client().call('usage', {}, { signal });
  output.answer(answer, usageView(answer));
  return EXIT.done;
}

const BAR_COLUMNS = 20;

type Usage = Answer<'usage'>;

/** How full each limit is. Gateways of earlier releases don't send mail, or don't count events or the log. */
export function usageView({ emails, events, replica_log: log, ...usage }: Usage): View {
  return {
    lines: (look) =>
      pairLines(
        [
          ...usagePairs(usage, look),
          ...(emails ? mailPairs(emails) : []),
          ...(events ? eventPairs(events) : []),
          ...(log ? [logPair(log)] : []),
        ],
        look,
      ),
  };
}

function usagePairs(
  { disk, keys, transfer }: Pick<Usage, 'disk' | 'keys' | 'transfer'>,
  { now }: Look,
): Pair[] {
  const { month, resets_at: resets } = transfer;
  return [
    ['Disk', share(disk.used_bytes, disk.limit_bytes, sizeText)],
    ['  files', sizeText(disk.file_bytes)],
    ['  keys', sizeText(disk.key_bytes)],
    ['  open uploads', sizeText(disk.upload_bytes)],
    ['Keys', share(keys.used, keys.limit, countText)],
    ['Downloads', share(transfer.used_bytes, transfer.limit_bytes, sizeText)],
    ['  month', `${month}, resets ${timeText(resets, now)}`],
  ];
}

function mailPairs(emails: NonNullable<Usage['emails']>): Pair[] {
  const { today, day_limit, this_month, month_limit, blocked } = emails;
  return [
    ['Mails today', share(today, day_limit, countText)],
    ['  month', share(this_month, month_limit, countText)],
    ...(blocked === null ? [] : [['  blocked', blocked] as const]),
  ];
}

type Events = NonNullable<Usage['events']>;

/** The quota of stored events, then a line for each source. */
function eventPairs({ stored_bytes, limit_bytes, source_limits, sources }: Events): Pair[] {
  const stored =
    limit_bytes === null ? sizeText(stored_bytes) : share(stored_bytes, limit_bytes, sizeText);
  return [
    ['Events', stored],
    ...sources.map((one): Pair => [`  ${one.name}`, sourceText(one, source_limits)]),
  ];
}

/** The log that replicas catch up from. */
function logPair({ stored_bytes, limit_bytes }: NonNullable<Usage['replica_log']>): Pair {
  return ['Replica log', amountText(stored_bytes, limit_bytes, sizeText)];
}

/** `12 MB of 1 GB, 7 of 6,000 events this minute, 3 MB of 200 MB in 10 minutes; limited` */
function sourceText(source: Events['sources'][number], limits: Events['source_limits']): string {
  const { stored_bytes, events_this_minute, bytes_these_10_minutes, limited } = source;
  const { events_per_minute: most } = limits;
  const parts = [
    amountText(stored_bytes, limits.stored_bytes, sizeText),
    `${amountText(events_this_minute, most, countText)} ${nounFor(most ?? events_this_minute, 'event')} this minute`,
    `${amountText(bytes_these_10_minutes, limits.bytes_per_10_minutes, sizeText)} in 10 minutes`,
  ];
  return `${parts.join(', ')}${limited === null ? '' : '; limited, senders must wait'}`;
}

function amountText(used: number, limit: number | null, textOf: (amount: number) => string) {
  return limit === null ? textOf(used) : `${textOf(used)} of ${textOf(limit)}`;
}

/** `██████░░░░░░░░░░░░░░  30%  312 MB of 1 GB` */
function share(used: number, limit: number, textOf: (amount: number) => string): string {
  const part = limit > 0 ? used / limit : 0;
  const percent = `${Math.floor(part * 100)}%`.padStart(4);
  return `${barText(part, BAR_COLUMNS)} ${percent}  ${textOf(used)} of ${textOf(limit)}`;
}
