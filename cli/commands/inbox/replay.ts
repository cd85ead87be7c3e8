import type { Answer, Input } from '../../call/answers.ts';
import { pluralize } from '../../../shared/lib/pluralize.ts';
import type { Additions, CommandContext } from '../../command.ts';
import { checkedAnswer } from '../../call/client.ts';
import { EXIT } from '../../exit.ts';
import { callFor, readCall } from '../../call/operation-command.ts';
import { askerOf } from '../../input/asker.ts';
import { switchOption } from '../../input/option-values.ts';
import type { OperationShape } from '../../call/operation-shape.ts';

export const declaration: Additions = {
  stored: { event_id: 'dead' },
  moreOptions: [{ flag: 'yes', summary: 'Replay more than 100 events without asking.' }],
  seeAlso: ['inbox requeue', 'inbox list', 'inbox work'],
};

type ReplayResult = Answer<'inbox_replay'>;
type SkippedEvents = ReplayResult['skipped'];

const PAGE = 100;

/** `svc inbox replay`: page after page, unless `--limit` asks for one page. */
export async function run(
  context: CommandContext,
  shape: OperationShape<'inbox_replay'>,
): Promise<number> {
  const { input } = await readCall(shape, context);
  const isWhole = input.limit === undefined && input.event_id === undefined;
  const paged = isWhole ? { ...input, limit: PAGE } : input;
  if (isWhole && !(await isWanted(context, shape, paged))) {
    context.output.note('Nothing was replayed.');
    return EXIT.refused;
  }
  const ids: string[] = [];
  const skipped: SkippedEvents[number][] = [];
  let cursor = input.cursor ?? null;
  const isDryRun = input.dry_run === true;
  const verb = isDryRun ? 'Would replay' : 'Replayed';
  const { output, signal } = context;
  do {
    const text = `${verb} ${pluralize(ids.length, 'event')} so far`;
    const page = await output.spin(text, replayPage(context, shape, paged, cursor));
    ids.push(...page.event_ids);
    skipped.push(...page.skipped);
    cursor = page.next_cursor;
    if (!isWhole) break;
  } while (cursor !== null && !signal.aborted);
  const all = { event_ids: ids, skipped, next_cursor: cursor };
  output.answer(all, {
    lines: () => [
      `${verb} ${pluralize(ids.length, 'event')}.`,
      ...(isDryRun ? firstOf(ids) : []),
      ...reasons(skipped),
    ],
  });
  if (cursor === null) return EXIT.done;
  output.note(`More events match. To go on, add: --cursor ${cursor}`);
  return signal.aborted ? EXIT.interrupted : EXIT.done;
}

/** Asks the user before a replay of several pages, if there is someone to ask. */
async function isWanted(
  context: CommandContext,
  shape: OperationShape<'inbox_replay'>,
  input: Input<'inbox_replay'>,
): Promise<boolean> {
  if (input.dry_run === true || switchOption(context, 'yes')) return true;
  const asker = askerOf(context);
  if (!asker) return true;
  const first = { ...input, dry_run: true };
  const page = await replayPage(context, shape, first, input.cursor ?? null);
  if (page.next_cursor === null) return true;
  try {
    return /^y(es)?$/i.test(await asker.ask(`More than ${PAGE} events match. Replay all? [y/N]`));
  } finally {
    asker.close();
  }
}

/** Ctrl-C doesn't end the call: what it replays should be counted. */
async function replayPage(
  { client }: CommandContext,
  shape: OperationShape<'inbox_replay'>,
  input: Input<'inbox_replay'>,
  cursor: string | null,
): Promise<ReplayResult> {
  const { method, path, options } = callFor(shape, { ...input, ...(cursor && { cursor }) });
  const step = `${input.dry_run === true ? 'dry ' : ''}${cursor ?? 'first'}`;
  const answer = await client().send(method, path, { ...options, step });
  return checkedAnswer<'inbox_replay'>(answer);
}

const IDS_SHOWN = 5;

function firstOf(ids: readonly string[]): string[] {
  const more = ids.length - IDS_SHOWN;
  const shown = ids.slice(0, IDS_SHOWN).map((id) => `  ${id}`);
  return more > 0 ? [...shown, `  and ${more} more`] : shown;
}

/** How many were skipped for each reason. */
function reasons(skipped: SkippedEvents): string[] {
  const counts = new Map<string, number>();
  for (const { reason } of skipped) {
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].map(([reason, count]) => `Skipped ${pluralize(count, 'event')}: ${reason}`);
}
