import type { Child } from 'hono/jsx';
import { STATE_PREFIX } from '../../../../../shared/rules/disk/disk-name.ts';
import { lengthOfTime } from '../../../ui/time.ts';
import { bytesText } from '../../../ui/bytes-text.ts';
import { fileLevel, keyLevel, newestStates, type Level } from './disk-queries.ts';
import { Fields } from '../../../ui/form.tsx';
import { ListRows, type ListRow } from '../../../ui/list.tsx';
import { last, line, mono } from '../../../ui/text.tsx';
import { Pager } from '../../../ui/parts.tsx';
import type { PageContext, PageResult } from '../../page-context.ts';
import { crumbs, diskHead, diskUrl, type Section } from './parts.tsx';

const PREFIX_MAX_CHARS = 512;

/** A list of names, folder by folder. */
interface LevelPage<T> {
  readonly title: string;
  readonly section: Section;
  /** What has the names, such as `Keys`. */
  readonly what: string;
  readonly level: Level<T>;
  /** The folder that is the section's top. */
  readonly base?: string;
  readonly empty: string;
  readonly rowOf: (item: T) => Pick<ListRow, 'href' | 'side' | 'meta'>;
  /** Below the list. */
  readonly after?: Child;
}

/** Where a list is, as its URL says. */
function placeIn(context: PageContext, base = '') {
  return { prefix: base + (context.query('prefix') ?? ''), cursor: context.query('cursor') };
}

/** The keys of the store. */
export async function showKeys(context: PageContext): Promise<PageResult> {
  const level = await context.read(keyLevel, placeIn(context));
  return levelPage(context, {
    title: 'Disk',
    section: undefined,
    what: 'Keys',
    level,
    empty: 'No keys here. Agents write them with kv_set.',
    rowOf: ({ key, size_bytes: size, updated_at: at, version, expires_at: expires }) => ({
      href: diskUrl(context, undefined, { key }),
      side: bytesText(size),
      meta: [
        last(context, 'written', at),
        `version ${version}`,
        expires !== null && `expires in ${lengthOfTime(expires - context.now)}`,
      ],
    }),
    after: level.under === STATE_PREFIX && (
      <p class="soft">
        These are <a href={diskUrl(context, 'states')}>task states</a>, each with its versions.
      </p>
    ),
  });
}

/** The states that agents saved of their tasks. */
export async function showStates(context: PageContext): Promise<PageResult> {
  const level = await context.read(keyLevel, placeIn(context, STATE_PREFIX));
  const keys = level.entries.flatMap(({ item }) => (item === null ? [] : [item.key]));
  const newest = await context.read(newestStates, { keys });
  return levelPage(context, {
    title: 'Task states',
    section: 'states',
    what: 'Tasks',
    level,
    base: STATE_PREFIX,
    empty: 'No states here. Agents save them with state_save.',
    rowOf: ({ key, size_bytes: size, updated_at: at }) => {
      const { note = null, agent = null } = newest.get(key) ?? {};
      const saved = last(context, 'saved', at);
      return {
        href: diskUrl(context, 'states', { task: key.slice(STATE_PREFIX.length) }),
        side: bytesText(size),
        meta: [
          agent === null ? (
            saved
          ) : (
            <>
              {saved} by {line(agent)}
            </>
          ),
          note !== null && line(note),
        ],
      };
    },
  });
}

export async function showFiles(context: PageContext): Promise<PageResult> {
  return levelPage(context, {
    title: 'Files',
    section: 'files',
    what: 'Files',
    level: await context.read(fileLevel, placeIn(context)),
    empty:
      'No files here. Agents write them with file_put. Files that came with mail are on the event’s page.',
    rowOf: ({ path, size_bytes: size, content_type: type, updated_at: at }) => ({
      href: diskUrl(context, 'files', { path }),
      side: bytesText(size),
      meta: [line(type), last(context, 'written', at)],
    }),
  });
}

function levelPage<T>(
  context: PageContext,
  { title, section, what, level, base = '', empty, rowOf, after }: LevelPage<T>,
): PageResult {
  const { under, entries, nextCursor } = level;
  const rows = entries.map((entry): ListRow => {
    if (entry.folder === null) {
      return { what: mono(entry.name.slice(under.length) || '(no name)'), ...rowOf(entry.item) };
    }
    const href = diskUrl(context, section, { prefix: entry.folder.slice(base.length) });
    return { href, what: mono(entry.folder.slice(under.length)), side: 'Folder' };
  });
  const prefix = {
    name: 'prefix',
    label: `${what} that start with`,
    value: context.query('prefix') ?? '',
    max: PREFIX_MAX_CHARS,
    placeholder: 'reports/',
  };
  const content = (
    <>
      {diskHead(context, section)}
      <form class="prefix" role="search">
        <Fields fields={[prefix]} />
        <button class="btn small">Filter</button>
      </form>
      {crumbs(context, section, under.slice(base.length))}
      <ListRows label={what} rows={rows} empty={empty} />
      <Pager context={context} next={nextCursor} keep={['prefix']} words={['First', 'Next']} />
      {after}
    </>
  );
  return { title, content };
}
