import { decodeTextCursor, encodeCursor } from '../../../../../shared/lib/cursor.ts';
import { hasControl } from '../../../../../shared/lib/text.ts';
import { isInside, outside, scannedPrefixes } from '../../../../../shared/kernel/disk-limit.ts';
import { prefixProblem } from '../../../../../shared/rules/disk/disk-name.ts';
import type { FileLinkRow } from '../../../../../shared/store/tables/disk/file-links.ts';
import type { FileRow } from '../../../../../shared/store/tables/disk/files.ts';
import type { KvHead } from '../../../../../shared/store/tables/disk/kv.ts';
import type { Repositories } from '../../../../../shared/store/repositories.ts';
import type { StateHead } from '../../../../../shared/store/tables/disk/state-versions.ts';
import {
  afterFolder,
  afterName,
  type LevelRange,
} from '../../../../../shared/store/tables/text-range.ts';
import type { PageContext } from '../../page-context.ts';

const LEVEL_LENGTH = 100;
const LINKS_LENGTH = 50;
/** How many links one page looks at, when it may show only some of them. */
const LINKS_READ = 500;

/** A folder, or a name on the level itself. */
type Entry<T> =
  | { readonly folder: string; readonly item: null }
  | { readonly folder: null; readonly name: string; readonly item: T };

/** A level of the disk, as far as the visitor may see it. */
export interface Level<T> {
  /** The folder; '' for the top. */
  readonly under: string;
  readonly entries: readonly Entry<T>[];
  readonly nextCursor: string | null;
}

export function keyLevel(context: PageContext, prefix: string): Promise<Level<KvHead>> {
  return levelOf(context, { kind: 'key', prefix }, async ({ kv }, range) =>
    (await kv.level(range, context.now)).map((row) => entryOf(row, row.key, range)),
  );
}

export function fileLevel(context: PageContext, prefix: string): Promise<Level<FileRow>> {
  return levelOf(context, { kind: 'path', prefix }, async ({ files }, range) =>
    (await files.level(range)).map((row) => entryOf(row, row.path, range)),
  );
}

async function levelOf<T>(
  context: PageContext,
  { kind, prefix }: { readonly kind: 'key' | 'path'; readonly prefix: string },
  read: (store: Repositories, range: LevelRange) => Promise<readonly Entry<T>[]>,
): Promise<Level<T>> {
  const under = prefix.slice(0, prefix.lastIndexOf('/') + 1);
  const from = decodeTextCursor(context.query('cursor'), cursorProblem);
  const prefixes = prefixesBelow(context, kind, prefix);
  const entries = await context.access.project.store.read(async (store) => {
    const found: Entry<T>[] = [];
    let next = from;
    for (const one of prefixes) {
      const limit = LEVEL_LENGTH + 1 - found.length;
      if (limit <= 0) break;
      found.push(...(await read(store, { under, prefix: one, from: next, limit })));
      next = afterEntry(found.at(-1)) ?? next;
    }
    return found;
  });
  const shown = entries.slice(0, LEVEL_LENGTH);
  const after = entries.length > LEVEL_LENGTH ? afterEntry(shown.at(-1)) : null;
  return { under, entries: shown, nextCursor: after === null ? null : encodeCursor(after) };
}

function entryOf<T>(item: T, name: string, { under }: LevelRange): Entry<T> {
  const slash = name.indexOf('/', under.length);
  if (slash === -1) return { folder: null, name, item };
  return { folder: name.slice(0, slash + 1), item: null };
}

/** From where to go on after an entry. */
function afterEntry(entry: Entry<unknown> | undefined): string | null {
  if (entry === undefined) return null;
  return entry.folder === null ? afterName(entry.name) : afterFolder(entry.folder);
}

/** What to list below a prefix; SCOPE_MISSING if the session may see nothing there. */
function prefixesBelow(
  { access }: PageContext,
  kind: 'key' | 'path',
  prefix: string,
): readonly string[] {
  const found = prefixProblem(prefix) === null ? scannedPrefixes(access, kind, prefix) : [];
  if (found.length === 0) throw outside(access.diskPrefixes ?? []);
  return found;
}

function cursorProblem(text: string): string | null {
  return hasControl(text) || !text.isWellFormed() ? 'Not a cursor.' : null;
}

/** The newest versions of task states, by key. */
export function newestStates(
  { access }: PageContext,
  keys: readonly string[],
): Promise<ReadonlyMap<string, StateHead>> {
  return access.project.store.read((store) => store.stateVersions.newestOf(keys));
}

/** A public link to a file. */
export interface FileLink {
  readonly id: string;
  readonly path: string;
  readonly requestId: string | null;
  readonly expiresAt: number;
  /** The name of the key that made it. */
  readonly keyName: string;
  /** Whether the link opens: its key may have ended, or its file may have changed. */
  readonly isOpen: boolean;
}

/** The links to a file, the first to end first. */
export async function linksTo(context: PageContext, path: string): Promise<readonly FileLink[]> {
  return context.access.project.store.read(async (store) =>
    named(store, context.now, await store.fileLinks.ofPath(path, LINKS_LENGTH)),
  );
}

interface Links {
  readonly links: readonly FileLink[];
  readonly nextCursor: string | null;
}

/** Links whose files the visitor may see, the first to end first. */
export async function allLinks(context: PageContext): Promise<Links> {
  const { access, now } = context;
  const cursor = decodeTextCursor(context.query('cursor'), (text) =>
    /^\d{1,15} lnk_[0-9a-z]{26}$/.test(text) ? null : 'Not a cursor.',
  );
  const [expiresAt = '', id = ''] = cursor.split(' ');
  const after = cursor === '' ? { expiresAt: now, id: '~' } : { expiresAt: Number(expiresAt), id };
  return access.project.store.read(async (store) => {
    const rows = await store.fileLinks.page(after, LINKS_READ + 1);
    const seen = rows.slice(0, LINKS_READ).filter(({ path }) => isInside(access, 'path', path));
    const shown = seen.slice(0, LINKS_LENGTH);
    const isMore = seen.length > shown.length || rows.length > LINKS_READ;
    const last = seen.length > shown.length ? shown.at(-1) : rows[LINKS_READ - 1];
    return {
      links: await named(store, now, shown),
      nextCursor: isMore && last ? encodeCursor(`${last.expires_at} ${last.id}`) : null,
    };
  });
}

async function named(
  { keys, files }: Repositories,
  now: number,
  links: readonly FileLinkRow[],
): Promise<FileLink[]> {
  return Promise.all(
    links.map(async (link) => {
      const key = await keys.find(link.key_id);
      const file = await files.find(link.path);
      const isOpen = link.expires_at > now && key?.revoked_at === null;
      const isSame = link.path.startsWith('evt_') || file?.version === link.version;
      const { id, path, request_id: requestId, expires_at: expiresAt } = link;
      const keyName = key?.name ?? link.key_id;
      return { id, path, requestId, expiresAt, keyName, isOpen: isOpen && isSame };
    }),
  );
}

/** A link whose file the visitor may see; null if there is none with this id. */
export async function findLink(context: PageContext, id: string): Promise<FileLink | null> {
  const { access, now } = context;
  return access.project.store.read(async (store) => {
    const link = await store.fileLinks.find(id);
    if (!link || !isInside(access, 'path', link.path)) return null;
    return (await named(store, now, [link]))[0] ?? null;
  });
}

/** Ends a link at once, in the visitor's name. */
export async function endLink({ access, caller, now }: PageContext, link: FileLink) {
  await access.project.writes.run('endFileLink', { linkId: link.id, caller, now });
}
