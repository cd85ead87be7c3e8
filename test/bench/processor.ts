import { readFileSync } from 'node:fs';

/** Milliseconds in a tick of the times in /proc, on every Linux that Node runs on. */
const TICK_MS = 10;

/** The processor time of a process so far, in milliseconds; 0 for one that's gone. */
export function processorMs(pid: number): number {
  try {
    // The name, in parentheses, may contain spaces; the times are the 14th and 15th field.
    const [, rest = ''] = /^.*\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    const [user, system] = rest.split(' ').slice(11, 13).map(Number);
    return ((user ?? 0) + (system ?? 0)) * TICK_MS;
  } catch {
    return 0;
  }
}

/** The child processes of a process. */
export function childrenOf(pid: number): number[] {
  const listed = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return listed.split(' ').filter(Boolean).map(Number);
}

/** What a process has in memory. */
export function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
}
