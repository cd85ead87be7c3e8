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

/** Bytes of a file, the last one left out. */
interface ByteRange {
  readonly path: string;
  readonly from: number;
  readonly to: number;
}

/** Copies a range to the same place of another file, which is made when it is not there. Durable when it resolves. */
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
 * Copies a database file, in a process of its own: this one must not open and close it beside SQLite, because to close a
 * file ends all the locks that a process has on it.
 */
export async function copyDatabase(
  path: string,
  target: string,
  signal: AbortSignal,
): Promise<void> {
  const env = { ...process.env, NODE_OPTIONS: '' };
  await run(process.execPath, ['--eval', COPY_PROGRAM, path, target], { signal, env });
}

/** Writes a small file, which a crash leaves as it was or as it is to be. */
export function writeDurably(path: string, text: string): void {
  const part = `${path}.part`;
  const file = fs.openSync(part, 'w', 0o600);
  try {
    fs.writeFileSync(file, text);
    fs.fsyncSync(file);
  } finally {
    fs.closeSync(file);
  }
  moveDurably(part, path);
}

/** Gives a durable file another name in its folder. */
export function moveDurably(from: string, to: string): void {
  fs.renameSync(from, to);
  syncFolder(dirname(to));
}

/** Makes the names in a folder survive a power cut. */
export function syncFolder(folder: string): void {
  const handle = fs.openSync(folder, 'r');
  try {
    fs.fsyncSync(handle);
  } finally {
    fs.closeSync(handle);
  }
}
