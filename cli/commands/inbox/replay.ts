import { isObject } from '../../../shared/lib/guards.ts';
import { pluralize } from '../../../shared/lib/pluralize.ts';
import type { Additions, CommandContext } from '../../command.ts';
import { EXIT } from '../../exit.ts';
import { callFor, readCall } from '../../operation-command.ts';
import { askerOf } from '../../input/asker.ts';
import { switchOption } from '../../input/option-values.ts';
import type { OperationShape } from '../../operation-shape.ts';

export const declaration: Additions = {
  stored: { event_id: 'dead' },
  moreOptions: [{ flag: 'yes', summary: 'Replay more than 100 events without asking.' }],
  seeAlso: ['inbox requeue', 'inbox list', 'inbox work'],
};

interface Replayed {
  readonly event_ids: unknown[];
  readonly skipped: unknown[];
  next_cursor: string | null;
}

const PAGE = 100;

type Input = Readonly<Record<string, unknown>>;

/** `svc inbox replay`: page after page, unless `--limit` asks for one page. */
export async function run(context: CommandContext, shape: OperationShape): Promise<number> {
  const { input } = await readCall(shape, context);
  const isWhole = input['limit'] === undefined && input['event_id'] === undefined;
  const paged = isWhole ? { ...input, limit: PAGE } : input;
  if (isWhole && !(await isWanted(context, shape, paged))) {
    context.output.note('Nothing was replayed.');
    return EXIT.refused;
  }
  const all: Replayed = { event_ids: [], skipped: [], next_cursor: textOrNull(input['cursor']) };
  const isDryRun = input['dry_run'] === true;
  const verb = isDryRun ? 'Would replay' : 'Replayed';
  const { output, signal } = context;
  do {
    const text = `${verb} ${pluralize(all.event_ids.length, 'event')} so far`;
    const page = await output.spin(text, replayPage(context, shape, paged, all.next_cursor));
    all.event_ids.push(...page.event_ids);
    all.skipped.push(...page.skipped);
    all.next_cursor = page.next_cursor;
    if (!isWhole) break;
  } while (all.next_cursor !== null && !signal.aborted);
  output.answer(all, {
    lines: () => [
      `${verb} ${pluralize(all.event_ids.length, 'event')}.`,
      ...(isDryRun ? firstOf(all.event_ids) : []),
      ...reasons(all.skipped),
    ],
  });
  if (all.next_cursor === null) return EXIT.done;
  output.note(`More events match. To go on, add: --cursor ${all.next_cursor}`);
  return signal.aborted ? EXIT.interrupted : EXIT.done;
}

/** Asks the user before a replay of several pages, if there is someone to ask. */
async function isWanted(
  context: CommandContext,
  shape: OperationShape,
  input: Input,
): Promise<boolean> {
  if (input['dry_run'] === true || switchOption(context, 'yes')) return true;
  const asker = askerOf(context);
  if (!asker) return true;
  const cursor = textOrNull(input['cursor']);
  const page = await replayPage(context, shape, { ...input, dry_run: true }, cursor);
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
  shape: OperationShape,
  input: Input,
  cursor: string | null,
): Promise<Replayed> {
  const { method, path, options } = callFor(shape, { ...input, ...(cursor && { cursor }) });
  const step = `${input['dry_run'] === true ? 'dry ' : ''}${cursor ?? 'first'}`;
  const answer = await client().call(method, path, { ...options, step });
  const { event_ids, skipped, next_cursor } = isObject(answer) ? answer : {};
  return {
    event_ids: Array.isArray(event_ids) ? event_ids : [],
    skipped: Array.isArray(skipped) ? skipped : [],
    next_cursor: textOrNull(next_cursor),
  };
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

const IDS_SHOWN = 5;

function firstOf(ids: readonly unknown[]): string[] {
  const more = ids.length - IDS_SHOWN;
  const shown = ids.slice(0, IDS_SHOWN).map((id) => `  ${String(id)}`);
  return more > 0 ? [...shown, `  and ${more} more`] : shown;
}

/** How many were skipped for each reason. */
function reasons(skipped: readonly unknown[]): string[] {
  const counts = new Map<string, number>();
  for (const one of skipped.filter(isObject)) {
    const reason = String(one['reason']);
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].map(([reason, count]) => `Skipped ${pluralize(count, 'event')}: ${reason}`);
}
