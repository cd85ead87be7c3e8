import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findProgram } from '../../helpers/programs.ts';
import { required } from '../../helpers/require.ts';

const HEADER_BYTES = 48;

/** Faults that the shim causes: see `shim.c`. */
export interface Faults {
  /** The process is killed in place of this change or sync, from 1. */
  readonly killAt?: number;
  /** As `sync:3:EIO`. */
  readonly fail?: string;
  /** No sync works, as with SQLite's synchronous=OFF; or none of the log, as with NORMAL. */
  readonly lies?: 'all' | 'log';
}

/**
 * `W`rite, `T`runcate, `C`reate, make `D`irectory, `R`ename, `L`ink, `U`nlink; `B` and `S` begin and end a sync, `F` is a sync and
 * `X` a write that failed, `K` the kill; `A` is a mark by the test.
 */
export interface LogRecord {
  readonly op: string;
  readonly inode: bigint;
  /** Of a write; the new length of a truncation; the number of a sync. */
  readonly offset: number;
  readonly path: string;
  readonly other: string;
  readonly data: Buffer;
}

/** Whether a compiler could build it; if not, it says so once. */
export function shimReady(): boolean {
  const isThere = process.platform === 'linux' && findProgram('gcc') !== null;
  return required('power cuts', isThere, 'no C compiler: apt-get install -y gcc libc6-dev');
}

/** Compiles the shim into a folder; returns the library. */
export function compileShim(folder: string): string {
  const library = join(folder, 'shim.so');
  const source = resolve('test/fault/power-cut/shim.c');
  const flags = ['-shared', '-fPIC', '-O2', '-Wall', '-Wextra', '-Werror'];
  execFileSync('gcc', [...flags, '-o', library, source, '-ldl', '-lpthread'], { stdio: 'pipe' });
  return library;
}

/** The environment that makes a process log its changes below `folder`. */
export function shimEnvironment(
  library: string,
  place: { readonly folder: string; readonly log: string },
  { killAt, fail, lies }: Faults = {},
): Record<string, string> {
  return {
    LD_PRELOAD: library,
    PC_DIR: realpathSync(place.folder),
    PC_LOG: place.log,
    ...(killAt !== undefined && { PC_KILL: String(killAt) }),
    ...(fail !== undefined && { PC_FAIL: fail }),
    ...(lies && { PC_LIE: lies }),
  };
}

/** Adds a mark to the log, after everything the process has done so far. */
export function mark(log: string, text: string): void {
  const data = Buffer.from(text);
  const bytes = Buffer.alloc(HEADER_BYTES + data.length);
  bytes.writeUInt32LE(bytes.length, 0);
  bytes.write('A', 4, 'latin1');
  bytes.writeUInt32LE(data.length, 32);
  data.copy(bytes, HEADER_BYTES);
  appendFileSync(log, bytes);
}

export function readLog(log: string): LogRecord[] {
  const bytes = readFileSync(log);
  const records: LogRecord[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = bytes.readUInt32LE(at);
    records.push(recordIn(bytes.subarray(at, at + length)));
    at += length;
  }
  return records;
}

function recordIn(bytes: Buffer): LogRecord {
  const pathEnd = HEADER_BYTES + bytes.readUInt32LE(24);
  const otherEnd = pathEnd + bytes.readUInt32LE(28);
  return {
    op: bytes.toString('latin1', 4, 5),
    inode: bytes.readBigUInt64LE(8),
    offset: Number(bytes.readBigUInt64LE(16)),
    path: bytes.toString('utf8', HEADER_BYTES, pathEnd),
    other: bytes.toString('utf8', pathEnd, otherEnd),
    data: bytes.subarray(otherEnd),
  };
}
