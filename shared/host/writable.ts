import { accessSync, constants, existsSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { errorCode } from '../lib/guards.ts';

/** Why nothing can be written at a place. */
export interface WriteTrouble {
  /** The system's code, such as `EACCES`. */
  readonly code: string;
  readonly path: string;
  /** What is wrong, with the owner where that's the reason; a sentence without its full stop. */
  readonly text: string;
  /** What a person can do; a command or a sentence. */
  readonly cure: string;
}

/** How many projects a check looks into: one belongs to this machine, and a gateway's are alike. */
const PROJECTS_MAX = 50;
const ANSWERS_WITHIN_MS = 2000;
/** A start makes a few files, and takes those back that it made before it failed. */
const NAMES_MIN = 16;

/** The files of a SQLite database, and the folder that gets its log. */
export function databasePlaces(path: string): string[] {
  return [dirname(path), path, `${path}-wal`, `${path}-shm`];
}

/** What a process writes in a data folder, as far as it's there. */
export function dataPlaces(folder: string): string[] {
  const projects = join(folder, 'projects');
  return [
    folder,
    ...databasePlaces(join(folder, 'control.db')).slice(1),
    ...databasePlaces(join(folder, 'lock')).slice(1),
    projects,
    ...namesIn(projects).flatMap((name) => [
      ...databasePlaces(join(projects, name, 'project.db')),
      join(projects, name, 'blobs'),
      join(projects, name, 'blobs', 'incoming'),
    ]),
  ];
}

/** The first of these places that is there and can't be written, or null. `whole` is what a cure should mend. */
export function unwritable(paths: readonly string[], whole?: string): WriteTrouble | null {
  for (const path of paths) {
    try {
      accessSync(path, constants.W_OK);
    } catch (error) {
      const code = errorCode(error) ?? 'unknown';
      if (code !== 'ENOENT' && code !== 'ENOTDIR') return troubleAt(path, code, whole ?? path);
    }
  }
  return null;
}

/** Null if a data folder can be written now, which a small file proves; otherwise why not. */
export async function writeTrouble(folder: string): Promise<WriteTrouble | null> {
  return unwritable(dataPlaces(folder), folder) ?? (await within(writeSmall(folder), folder));
}

async function writeSmall(folder: string): Promise<WriteTrouble | null> {
  try {
    const path = join(folder, '.probe');
    const file = await open(path, 'w', 0o600);
    try {
      await file.writeFile(String(process.pid));
      await file.sync();
    } finally {
      await file.close();
    }
    // The next check makes it anew, which fails where no file can be made.
    await rm(path, { force: true });
    return null;
  } catch (error) {
    return troubleWith(folder, errorCode(error) ?? 'unknown');
  }
}

/** What the system's refusal of a write at this place means. */
export function troubleWith(path: string, code: string): WriteTrouble {
  const hasNoNames = code === 'ENOSPC' && lacksNames(path);
  return troubleAt(path, code, path, hasNoNames ? NO_NAMES : undefined);
}

/** The trouble of a folder whose file system holds no more files; null for any other. */
export function namesTrouble(folder: string): WriteTrouble | null {
  return lacksNames(folder) ? troubleAt(folder, 'ENOSPC', folder, NO_NAMES) : null;
}

/** What it means that a folder can't be made: who may write where it would be. */
export function folderTrouble(path: string, code: string): WriteTrouble {
  if (Object.hasOwn(WORDS, code)) return troubleWith(path, code);
  const there = nearest(path);
  const why = statSync(there).isDirectory()
    ? `${there}: ${rightsOf(there, code, there)[0]}`
    : `${there} is no folder`;
  const cure = 'Set SVC_HOME, or SVC_DATA for a gateway, to a folder of your own.';
  return { code, path, text: `${path} can't be made. ${why} (${code})`, cure };
}

/** The place, or the first folder above it that is there. */
function nearest(path: string): string {
  let at = path;
  while (!existsSync(at) && at !== dirname(at)) at = dirname(at);
  return at;
}

function lacksNames(path: string): boolean {
  // What couldn't be made isn't there, and perhaps nor is its folder.
  const { files, ffree } = statfsSync(nearest(path));
  return files > 0 && ffree < NAMES_MIN;
}

async function within(
  work: Promise<WriteTrouble | null>,
  folder: string,
): Promise<WriteTrouble | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<WriteTrouble>((resolve) => {
    const trouble = troubleAt(folder, `no answer in ${ANSWERS_WITHIN_MS} ms`, folder);
    timer = setTimeout(resolve, ANSWERS_WITHIN_MS, trouble);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

type Words = readonly [text: string, cure: string];

const NO_NAMES: Words = [
  'no file can be made',
  'Delete some files: the file system holds no more of them.',
];

const WORDS: Readonly<Record<string, Words>> = {
  EROFS: ['its file system is mounted read-only', 'Mount it writable; the kernel log says why.'],
  ENOSPC: ['the disk is full', 'Free some space.'],
  EDQUOT: ["this user's disk quota is used up", 'Free some space, or raise the quota.'],
  EIO: ['the disk failed', 'Check the disk; the kernel log says more.'],
};

function troubleAt(
  path: string,
  code: string,
  whole: string,
  words: Words | undefined = WORDS[code],
): WriteTrouble {
  const [text, cure] = words ?? rightsOf(path, code, whole);
  return { code, path, text: `${path} can't be written: ${text} (${code})`, cure };
}

function rightsOf(path: string, code: string, whole: string): Words {
  const me = process.getuid?.() ?? -1;
  const owner = statSync(path, { throwIfNoEntry: false })?.uid ?? me;
  if (code === 'EPERM') return ['it is immutable', `sudo chattr -R -i ${whole}`];
  if (code !== 'EACCES') return ['the system refuses', 'Check the disk and the folder.'];
  if (owner === me) return ['this user may only read it', `chmod -R u+w ${whole}`];
  return [`it belongs to ${nameOf(owner)}`, `sudo chown -R ${nameOf(me)} ${whole}`];
}

/** Only the names that need no look into the list of users: it may not have this one. */
function nameOf(uid: number): string {
  if (uid === 0) return 'root';
  try {
    const { uid: mine, username } = userInfo();
    return uid === mine ? username : `uid ${uid}`;
  } catch {
    return String(uid);
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).slice(0, PROJECTS_MAX);
  } catch {
    return [];
  }
}
