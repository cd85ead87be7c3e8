import * as z from 'zod';
import {
  decodeIdCursor,
  decodeTextCursor,
  encodeCursor,
} from '../../../../../shared/lib/cursor.ts';
import { hasControl } from '../../../../../shared/lib/text.ts';
import { refuseUnscoped } from '../../../../../shared/kernel/operation.ts';
import { isInside, scannedPrefixes } from '../../../../../shared/kernel/disk-limit.ts';
import { fileUrl } from '../../../../../shared/operations/file/url.ts';
import { prefixField } from '../../../../../shared/operations/disk-fields.ts';
import type { FileLinkRow } from '../../../../../shared/store/tables/disk/file-links.ts';
import type { Repositories } from '../../../../../shared/store/repositories.ts';
import {
  afterFolder,
  afterName,
  type LevelRange,
} from '../../../../../shared/store/tables/text-range.ts';
import type { PageContext } from '../../page-context.ts';
import { pageRead } from '../../page-read.ts';

const LEVEL_LENGTH = 100;
const LINKS_LENGTH = 50;
/** How many links one page looks at, when it may show only some of them. */
const LINKS_READ = 500;
const CURSOR = z.string().optional();

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

const LEVEL = { prefix: prefixField('names'), cursor: CURSOR };

export const keyLevel = pageRead(
  { field: 'prefix', kind: 'key', isPrefix: true },
  LEVEL,
  (context, { prefix, cursor }) =>
    levelOf(prefix, cursor, scannedPrefixes(context.caller, 'key', prefix), async (range) =>
      (await context.store.kv.level(range, context.now)).map((row) => entryOf(row, row.key, range)),
    ),
);

export const fileLevel = pageRead(
  { field: 'prefix', kind: 'path', isPrefix: true },
  LEVEL,
  ({ store, caller }, { prefix, cursor }) =>
    levelOf(prefix, cursor, scannedPrefixes(caller, 'path', prefix), async (range) =>
      (await store.files.level(range)).map((row) => entryOf(row, row.path, range)),
    ),
);

/** A level as far as these prefixes reach. */
async function levelOf<T>(
  prefix: string,
  cursor: string | undefined,
  prefixes: readonly string[],
  read: (range: LevelRange) => Promise<readonly Entry<T>[]>,
): Promise<Level<T>> {
  const under = prefix.slice(0, prefix.lastIndexOf('/') + 1);
  let next = decodeTextCursor(cursor, cursorProblem);
  const entries: Entry<T>[] = [];
  for (const one of prefixes) {
    const limit = LEVEL_LENGTH + 1 - entries.length;
    if (limit <= 0) break;
    entries.push(...(await read({ under, prefix: one, from: next, limit })));
    next = afterEntry(entries.at(-1)) ?? next;
  }
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

function cursorProblem(text: string): string | null {
  return hasControl(text) || !text.isWellFormed() ? 'Not a cursor.' : null;
}

/** The newest versions of task states, by key. */
export const newestStates = pageRead(
  { field: 'keys', kind: 'key' },
  { keys: z.array(z.string()) },
  ({ store }, { keys }) => store.stateVersions.newestOf(keys),
);

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
export const linksTo = pageRead(
  { field: 'path', kind: 'path' },
  { path: z.string() },
  async ({ store, now }, { path }) =>
    named(store, now, await store.fileLinks.ofPath(path, LINKS_LENGTH)),
);

/** Links whose files the visitor may see, the first to end first. */
export const allLinks = pageRead(
  'disk',
  { cursor: CURSOR },
  async ({ store, caller, now }, input) => {
    const cursor = decodeIdCursor(input.cursor, /^\d{1,15} lnk_[0-9a-z]{26}$/);
    const [expiresAt = '', id = ''] = cursor.split(' ');
    const after =
      cursor === '' ? { expiresAt: now, id: '~' } : { expiresAt: Number(expiresAt), id };
    const rows = await store.fileLinks.page(after, LINKS_READ + 1);
    const seen = rows.slice(0, LINKS_READ).filter(({ path }) => isInside(caller, 'path', path));
    const shown = seen.slice(0, LINKS_LENGTH);
    const isMore = seen.length > shown.length || rows.length > LINKS_READ;
    const last = seen.length > shown.length ? shown.at(-1) : rows[LINKS_READ - 1];
    return {
      links: await named(store, now, shown),
      nextCursor: isMore && last ? encodeCursor(`${last.expires_at} ${last.id}`) : null,
    };
  },
);

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
export const findLink = pageRead(
  'disk',
  { id: z.string() },
  async ({ store, caller, now }, { id }) => {
    const link = await store.fileLinks.find(id);
    if (!link || !isInside(caller, 'path', link.path)) return null;
    return (await named(store, now, [link]))[0] ?? null;
  },
);

/** Ends a link at once, in the visitor's name. SCOPE_MISSING. */
export async function endLink({ access, caller, now }: PageContext, link: FileLink) {
  refuseUnscoped(fileUrl, caller);
  await access.project.writes.run('endFileLink', { linkId: link.id, caller, now });
}
