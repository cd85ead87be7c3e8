import { DATA_OPTIONS } from '../../../gateway/options.ts';
import { isObject } from '../../../../shared/lib/guards.ts';
import type { CommandContext, Declaration } from '../../../command.ts';
import { badAnswer } from '../../../errors.ts';
import { EXIT } from '../../../exit.ts';
import { WATCH_OPTION } from '../../../input/flags.ts';
import { age, table, type Look } from '../../../view/table.ts';
import { plainText, safeLine } from '../../../view/terminal-text.ts';
import { callOperator } from '../../../gateway/call.ts';

export const declaration: Declaration = {
  order: 6,
  summary: 'List the projects of the gateway running here.',
  description:
    "Shows each project's owner, the mail it sent this calendar month (UTC), and whether it's blocked or being moved. Connects to the gateway's socket in its data folder, so run it as the gateway's user. It opens each project in turn, so thousands of projects take a while.",
  args: [],
  options: [...DATA_OPTIONS, WATCH_OPTION],
  examples: ['gateway project list', 'gateway project list --data /var/lib/svc-gateway --json'],
};

type Item = Readonly<Record<string, unknown>>;

const COLUMNS = ['slug', 'name', 'sending', 'this_month', 'owner', 'created_at', 'id'];

/** `svc gateway project list`: all projects. Exit code 3 if there are none. */
export async function run(context: CommandContext): Promise<number> {
  const items: Item[] = [];
  const text = () => `Reading projects: ${items.length} so far`;
  await context.output.spin(text, readAll(context, items));
  context.output.answer({ items, next_cursor: null }, { lines: (look) => linesOf(items, look) });
  return items.length > 0 ? EXIT.done : EXIT.nothing;
}

async function readAll(context: CommandContext, items: Item[]): Promise<void> {
  for (let cursor: string | null = ''; cursor !== null;) {
    const query: string = cursor === '' ? '' : `?cursor=${encodeURIComponent(cursor)}`;
    const page = await callOperator(context, { method: 'GET', path: `/projects${query}` });
    const list: unknown = isObject(page) ? page['items'] : null;
    if (!isObject(page) || !Array.isArray(list)) throw badAnswer("The answer isn't a list.");
    items.push(...list.filter(isObject));
    cursor = typeof page['next_cursor'] === 'string' ? page['next_cursor'] : null;
  }
}

function linesOf(items: readonly Item[], look: Look): string[] {
  if (items.length === 0)
    return ['No projects yet. Create the first with: svc login --gateway URL'];
  const rows = items.map((item) => ({ ...item, ...sending(item) }));
  const notes = items.flatMap((item) => [...blockLine(item, look.now), ...moveLine(item)]);
  return [...table(rows, COLUMNS, look), ...(notes.length > 0 ? ['', ...notes] : [])];
}

function sending({ emails, state }: Item): { sending: string; this_month: unknown } {
  if (state === 'moved') return { sending: 'moved', this_month: null };
  if (!isObject(emails)) return { sending: 'unreadable', this_month: null };
  const { blocked, this_month } = emails;
  if (state === 'held') return { sending: 'held', this_month };
  return { sending: blocked === null ? 'allowed' : 'blocked', this_month };
}

/** Printed below the table, where a reason fits. */
function blockLine({ slug, emails }: Item, now: number): string[] {
  const blocked = isObject(emails) ? emails['blocked'] : null;
  if (!isObject(blocked)) return [];
  const { reason, since } = blocked;
  const text = `${plainText(slug)}: blocked ${age(plainText(since), now)}: ${plainText(reason)}`;
  return [safeLine(text)];
}

function moveLine({ slug, state, moved_to }: Item): string[] {
  if (state === 'held') return [safeLine(`${plainText(slug)}: on hold, to be moved`)];
  if (state !== 'moved') return [];
  const where = typeof moved_to === 'string' ? ` to ${moved_to}` : '';
  return [safeLine(`${plainText(slug)}: moved${where}`)];
}
