import {
  closeSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join, isAbsolute } from 'node:path';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';

// The executable: it runs the code of the command with what V8 compiled of it at an earlier start, which is faster.
// A cache is only an aid: if anything is wrong with it, the code is compiled again.

/** Filled in by the build: a digest of the code. */
declare const CODE_DIGEST: string;

/** One cache for each version of Node and set of its flags in use, up to this many. */
const KEPT = 4;
const WRAPPER = '(function (exports, require, module, __filename, __dirname) { ';
const CRC_BYTES = 4;

/** What a cache is good for. V8 itself compares no more of the code than its length, and no digest of what it compiled. */
const key = [
  CODE_DIGEST,
  process.version,
  process.arch,
  ...process.execArgv,
  process.env['NODE_OPTIONS'] ?? '',
].join(' ');
const cacheName = `cli-${crc32(key).toString(16).padStart(8, '0')}.cache`;

start();

function start(): void {
  const filename = join(__dirname, 'code', 'cli.cjs');
  // The bundle is plain ASCII, so that this is right, and the fastest.
  const source = `${WRAPPER}${readFileSync(filename, 'latin1')}\n})`;
  const cachedData = readCache();
  const script = new Script(source, {
    filename,
    ...(cachedData && { cachedData }),
  });
  if (!cachedData || script.cachedDataRejected) keepLater(script);
  const run = script.runInThisContext() as (...args: unknown[]) => void;
  run(exports, require, module, __filename, __dirname);
}

function readCache(): Buffer | null {
  for (const folder of [__dirname, userFolder()]) {
    try {
      // Only what this user wrote is run, and what lies beside the code itself.
      if (folder === null || (folder !== __dirname && !isPrivate(folder))) continue;
      const payload = payloadOf(readWhole(join(folder, cacheName), folder !== __dirname));
      if (payload) return payload;
    } catch {
      // There is none.
    }
  }
  return null;
}

/** `isOwn`: a file of somebody else is refused, who may have had the folder, or have put another in its place. */
function readWhole(path: string, isOwn: boolean): Buffer {
  const descriptor = openSync(path, 'r');
  try {
    const isRefused = isOwn && fstatSync(descriptor).uid !== process.geteuid?.();
    return isRefused ? Buffer.alloc(0) : readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The part for V8 of a cache that is whole and for this code; damage would end the process. */
function payloadOf(file: Buffer): Buffer | null {
  const head = Buffer.from(`${key}\n`);
  if (!file.subarray(0, head.length).equals(head)) return null;
  const payload = file.subarray(head.length + CRC_BYTES);
  return payload.length > 0 && file.readUInt32BE(head.length) === crc32(payload) ? payload : null;
}

/** Once it has run far enough to have compiled what most starts need. */
function keepLater(script: Script): void {
  process.once('exit', (code) => {
    // A command line that was refused, and one for help, have compiled next to nothing.
    const isHelp = process.argv.some((word) => ['help', '--help', '-h'].includes(word));
    if (code !== 2 && !isHelp && process.argv.length > 2) tryToKeep(script);
  });
}

/** An installation may go away while it runs: nothing of this may change what a command exits with. */
function tryToKeep(script: Script): void {
  try {
    keep(script);
  } catch {
    // The next start compiles anew.
  }
}

/** Into the first folder that takes it: beside the code where that is ours, else the cache folder of the user. */
function keep(script: Script): void {
  const payload = script.createCachedData();
  const sum = Buffer.alloc(CRC_BYTES);
  sum.writeUInt32BE(crc32(payload));
  const file = Buffer.concat([Buffer.from(`${key}\n`), sum, payload]);
  if (statSync(__dirname).uid === process.geteuid?.() && write(__dirname, file)) return;
  const folder = userFolder();
  if (folder === null) return;
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch {
    // It is there, or there is no place for it.
  }
  if (isPrivate(folder)) write(folder, file);
}

/** Whole or not at all: under a name of its own first, and synced before it gets the real one. */
function write(folder: string, file: Buffer): boolean {
  const path = join(folder, cacheName);
  const temporary = `${path}.${process.pid}`;
  try {
    const descriptor = openSync(temporary, 'wx');
    try {
      // Compiled code is no secret, and other users run the same one.
      fchmodSync(descriptor, 0o644);
      writeSync(descriptor, file);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, path);
    removeOld(folder);
    return true;
  } catch {
    rmSync(temporary, { force: true });
    return false;
  }
}

function removeOld(folder: string): void {
  const caches = readdirSync(folder)
    .filter((name) => name.startsWith('cli-') && name.includes('.cache'))
    .map((name) => join(folder, name))
    .map((path) => ({ path, at: statSync(path).mtimeMs }))
    .toSorted((one, other) => other.at - one.at);
  for (const { path } of caches.slice(KEPT)) rmSync(path, { force: true });
}

/** A folder of this user that nobody else can write to. */
function isPrivate(folder: string): boolean {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === process.geteuid?.() && !(stat.mode & 0o022);
}

/** Null where the environment names none. */
function userFolder(): string | null {
  const { SVC_HOME, XDG_CACHE_HOME, HOME } = process.env;
  if (SVC_HOME) return isAbsolute(SVC_HOME) ? join(SVC_HOME, 'cache') : null;
  if (XDG_CACHE_HOME && isAbsolute(XDG_CACHE_HOME)) return join(XDG_CACHE_HOME, 'svc');
  return HOME && isAbsolute(HOME) ? join(HOME, '.cache', 'svc') : null;
}
