import { execFile } from 'node:child_process';
import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const read = promisify(fs.read);
const write = promisify(fs.write);
const sync = promisify(fs.fsync);

const COPY_BYTES = 1024 * 1024;
const COPY_PROGRAM = `const { constants, copyFileSync } = require('node:fs');
copyFileSync(process.argv[1], process.argv[2], constants.COPYFILE_FICLONE);`;

/** A byte range of a file; `to` is exclusive. */
interface ByteRange {
  readonly path: string;
  readonly from: number;
  readonly to: number;
}

/** Copies a range to the same position in another file, creating that file if needed. Durable when it resolves. */
export async function copyRange({ path, from, to }: ByteRange, target: string): Promise<void> {
  const source = fs.openSync(path, 'r');
  const file = fs.openSync(target, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o600);
  try {
    const buffer = Buffer.allocUnsafe(Math.min(COPY_BYTES, to - from));
    for (let at = from; at < to;) {
      const wanted = Math.min(buffer.length, to - at);
      const { bytesRead } = await read(source, buffer, 0, wanted, at);
      if (bytesRead === 0) throw new Error('The file to be copied is shorter than it was.');
      for (let done = 0; done < bytesRead;) {
        done += (await write(file, buffer, done, bytesRead - done, at + done)).bytesWritten;
      }
      at += bytesRead;
    }
    await sync(file);
  } finally {
    fs.closeSync(file);
    fs.closeSync(source);
  }
}

/**
 * Copies a database file in a separate process. This process must not open and close the file alongside SQLite, because
 * closing a file ends all locks that the process holds on it.
 */
export async function copyDatabase(
  path: string,
  target: string,
  signal: AbortSignal,
): Promise<void> {
  const env = { ...process.env, NODE_OPTIONS: '' };
  await run(process.execPath, ['--eval', COPY_PROGRAM, path, target], { signal, env });
}

/** Writes a small file; after a crash it has either the old or the new content. */
export function writeDurably(path: string, content: string | Uint8Array): void {
  const part = `${path}.part`;
  const file = fs.openSync(part, 'w', 0o600);
  try {
    fs.writeFileSync(file, content);
    fs.fsyncSync(file);
  } finally {
    fs.closeSync(file);
  }
  moveDurably(part, path);
}

/** Renames a durable file within its folder. */
export function moveDurably(from: string, to: string): void {
  fs.renameSync(from, to);
  syncFolder(dirname(to));
}

/** Makes file names in a folder survive a power cut. */
export function syncFolder(folder: string): void {
  const handle = fs.openSync(folder, 'r');
  try {
    fs.fsyncSync(handle);
  } finally {
    fs.closeSync(handle);
  }
}
