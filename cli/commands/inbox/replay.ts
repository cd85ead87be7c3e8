import { isObject } from '../../../shared/lib/guards.ts';
import { pluralize } from '../../../shared/lib/pluralize.ts';
import type { Additions, CommandContext } from '../../command.ts';
import { EXIT } from '../../exit.ts';
import { callFor, readCall } from '../../operation-command.ts';
import type { OperationShape } from '../../operation-shape.ts';

export const declaration: Additions = {
  stored: { event_id: 'dead' },
  seeAlso: ['inbox requeue', 'inbox list', 'inbox work'],
};

interface Replayed {
  readonly event_ids: unknown[];
  readonly skipped: unknown[];
  next_cursor: string | null;
}

/** `svc inbox replay`: page after page, unless `--limit` asks for one page. */
export async function run(context: CommandContext, shape: OperationShape): Promise<number> {
  const { input } = await readCall(shape, context);
  const all: Replayed = { event_ids: [], skipped: [], next_cursor: textOrNull(input['cursor']) };
  const isDryRun = input['dry_run'] === true;
  const verb = isDryRun ? 'Would replay' : 'Replayed';
  const { output, signal } = context;
  try {
    do {
      const text = `${verb} ${pluralize(all.event_ids.length, 'event')} so far`;
      const page = await output.spin(text, replayPage(context, shape, { input, all }));
      all.event_ids.push(...page.event_ids);
      all.skipped.push(...page.skipped);
      all.next_cursor = page.next_cursor;
    } while (all.next_cursor !== null && input['limit'] === undefined);
  } catch (error) {
    if (signal.aborted) output.note(`${verb} ${pluralize(all.event_ids.length, 'event')}.`);
    throw error;
  }
  output.answer(all, {
    lines: () => [
      `${verb} ${pluralize(all.event_ids.length, 'event')}.`,
      ...(isDryRun ? firstOf(all.event_ids) : []),
      ...reasons(all.skipped),
    ],
  });
  return EXIT.done;
}

async function replayPage(
  { client, signal }: CommandContext,
  shape: OperationShape,
  { input, all }: { readonly input: Readonly<Record<string, unknown>>; readonly all: Replayed },
): Promise<Replayed> {
  const cursor = all.next_cursor;
  const { method, path, options } = callFor(shape, {
    ...input,
    ...(cursor !== null && { cursor }),
  });
  const step = cursor ?? 'first';
  const answer = await client().call(method, path, { ...options, step, signal });
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
