import { readFileSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { errorCode } from '../lib/guards.ts';

/** Whether a process is running. A zombie, ended but not yet collected by its parent, isn't. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
  // The state follows the name, which is in brackets and may itself contain brackets.
  return !/^\d+ \(.*\) Z/s.test(readProc(`/proc/${pid}/stat`) ?? '');
}

/**
 * The process that holds the kernel lock on a file, which proves it's the daemon of this data, whatever a pid file
 * says. Null if nobody holds it or the system can't tell (no /proc).
 */
export function lockHolder(lockFile: string): number | null {
  const inode = statSync(lockFile, { throwIfNoEntry: false })?.ino;
  if (inode === undefined) return null;
  const held = /^\d+: POSIX\s+\S+\s+WRITE\s+(\d+) [0-9a-f]+:[0-9a-f]+:(\d+) /;
  for (const line of (readProc('/proc/locks') ?? '').split('\n')) {
    const [, pid, lockedInode] = held.exec(line) ?? [];
    if (Number(lockedInode) === inode) return Number(pid);
  }
  return null;
}

/** The process that listens on a local TCP port, as `node server.js (pid 42)`; null if it can't be seen. */
export function portOwner(port: number): string | null {
  const inodes = listeningInodes(port);
  if (inodes.size === 0) return null;
  for (const pid of listProc('/proc').filter((name) => /^\d+$/.test(name))) {
    const holds = listProc(`/proc/${pid}/fd`).some((fd) =>
      inodes.has(linkOf(`/proc/${pid}/fd/${fd}`)),
    );
    if (holds) return `${commandOf(pid)} (pid ${pid})`;
  }
  return null;
}

function listeningInodes(port: number): Set<string> {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const found = new Set<string>();
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of (readProc(table) ?? '').split('\n')) {
      const columns = line.trim().split(/\s+/);
      // 0A means LISTEN; the tenth column is the socket's inode.
      if (columns[1]?.endsWith(`:${hex}`) && columns[3] === '0A')
        found.add(`socket:[${columns[9]}]`);
    }
  }
  return found;
}

function commandOf(pid: string): string {
  const words = (readProc(`/proc/${pid}/cmdline`) ?? '').split('\0').join(' ').trim();
  return words.slice(0, 80) || 'a process';
}

function readProc(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function listProc(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
