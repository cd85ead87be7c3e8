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

// The executable. It runs the command's code from V8's cache of an earlier start, which is faster. The cache is
// optional: if anything is wrong with it, Node compiles the code again.

/** A digest of the code, filled in by the build. */
declare const CODE_DIGEST: string;

/** How many caches to keep; each Node version and set of flags has its own. */
const KEPT = 4;
const WRAPPER = '(function (exports, require, module, __filename, __dirname) { ';
const CRC_BYTES = 4;

/** What a cache is valid for. V8 itself only compares the code's length and doesn't checksum the cache. */
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
  // The bundle is plain ASCII, so latin1 is correct, and it's the fastest.
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
      // Only run a cache that this user wrote or that is next to the code.
      if (folder === null || (folder !== __dirname && !isPrivate(folder))) continue;
      const payload = payloadOf(readWhole(join(folder, cacheName), folder !== __dirname));
      if (payload) return payload;
    } catch {
      // There's no cache here.
    }
  }
  return null;
}

/** With `isOwn`, refuses another user's file: they may have owned the folder or put another one in its place. */
function readWhole(path: string, isOwn: boolean): Buffer {
  const descriptor = openSync(path, 'r');
  try {
    const isRefused = isOwn && fstatSync(descriptor).uid !== process.geteuid?.();
    return isRefused ? Buffer.alloc(0) : readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** V8's part of a cache that is complete and for this code; a damaged one would crash the process. */
function payloadOf(file: Buffer): Buffer | null {
  const head = Buffer.from(`${key}\n`);
  if (!file.subarray(0, head.length).equals(head)) return null;
  const payload = file.subarray(head.length + CRC_BYTES);
  return payload.length > 0 && file.readUInt32BE(head.length) === crc32(payload) ? payload : null;
}

/** Saves at exit, when the code that most starts need has been compiled. */
function keepLater(script: Script): void {
  process.once('exit', (code) => {
    // Refused command lines and help compile almost nothing.
    const isHelp = process.argv.some((word) => ['help', '--help', '-h'].includes(word));
    if (code !== 2 && !isHelp && process.argv.length > 2) tryToKeep(script);
  });
}

/** The installation may disappear meanwhile, and that must not change the exit code. */
function tryToKeep(script: Script): void {
  try {
    keep(script);
  } catch {
    // The next start compiles again.
  }
}

/** Saves into the first writable folder: next to the code if this user owns it, otherwise the user's cache folder. */
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
    // It exists, or it can't be created.
  }
  if (isPrivate(folder)) write(folder, file);
}

/** Writes the whole cache or nothing: into a temporary file, synced and then renamed. */
function write(folder: string, file: Buffer): boolean {
  const path = join(folder, cacheName);
  const temporary = `${path}.${process.pid}`;
  try {
    const descriptor = openSync(temporary, 'wx');
    try {
      // Compiled code isn't secret, and other users run the same code.
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

/** Whether this user owns the folder and nobody else can write to it. */
function isPrivate(folder: string): boolean {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === process.geteuid?.() && !(stat.mode & 0o022);
}

/** Null if the environment names no folder. */
function userFolder(): string | null {
  const { SVC_HOME, XDG_CACHE_HOME, HOME } = process.env;
  if (SVC_HOME) return isAbsolute(SVC_HOME) ? join(SVC_HOME, 'cache') : null;
  if (XDG_CACHE_HOME && isAbsolute(XDG_CACHE_HOME)) return join(XDG_CACHE_HOME, 'svc');
  return HOME && isAbsolute(HOME) ? join(HOME, '.cache', 'svc') : null;
}
