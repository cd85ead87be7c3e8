import type { Answer } from '../../call/answers.ts';
import { showing } from '../../call/operation-command.ts';
import { age, timeText } from '../../view/table.ts';
import { safeLine } from '../../view/terminal-text.ts';
import { wholeTable } from '../../disk/columns.ts';

const COLUMNS = [
  { head: 'NAME' },
  { head: 'VERIFICATION' },
  { head: 'LAST' },
  { head: '24 H', right: true },
  { head: 'REFUSED', right: true },
  { head: 'ADDED BY' },
  { head: 'ADDRESS' },
] as const;

type Source = Answer<'source_list'>['items'][number];

/** `svc source list`: with each source's address, uncut, so that it can be copied. */
export const run = showing<'source_list'>(({ items: sources }) => {
  if (sources.length === 0) return {};
  return {
    lines: (look) => [
      ...wholeTable(
        COLUMNS,
        sources.map((source) => rowOf(source, look.now)),
        look,
      ),
      ...sources.flatMap((source) => changingOver(source, look.now)),
      ...sources.flatMap(limitedLine),
    ],
  };
});

function rowOf(source: Source, now: number): string[] {
  const { name, type, last_event_at: last, address, url } = source;
  return [
    name,
    // Mail senders have no shared secret; DKIM checks their domain's signature.
    type === 'email' ? 'dkim' : source.verification,
    last === null ? '–' : age(last, now),
    String(source.events_24h),
    String(source.rejected_24h),
    source.maker ?? '',
    address ?? url ?? '',
  ];
}

function changingOver({ name, previous_secret_valid_until: until }: Source, now: number): string[] {
  if (!until) return [];
  return [safeLine(`${name} also accepts its previous secret until ${timeText(until, now)}.`)];
}

function limitedLine({ name, limited }: Source): string[] {
  if (!limited) return [];
  return [safeLine(`${name} has reached a limit, and its senders must wait: svc usage shows it.`)];
}
