import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Ask V8 to collect after this many closed connections, or this long after the first of them. */
const CLOSED_MAX = 256;
const AFTER_MS = 10_000;

let closed = 0;
let timer: NodeJS.Timeout | null = null;
let gc: NodeJS.GCFunction | null = null;

/**
 * Call this after closing a connection. The driver can't finalize a statement: a connection keeps its files open until
 * V8 collects its last statement, and V8 sees only small objects and isn't in a hurry. A process that opens and closes
 * databases all the time must therefore ask for a collection; each thread does so for its own connections.
 */
export function connectionClosed(): void {
  closed += 1;
  if (closed >= CLOSED_MAX) collect();
  else timer ??= setTimeout(collect, AFTER_MS).unref();
}

function collect(): void {
  if (timer) clearTimeout(timer);
  timer = null;
  closed = 0;
  gc ??= exposed();
  // The call that closed the last connection still references it, so collect later.
  setImmediate(() => gc?.());
}

function exposed(): NodeJS.GCFunction {
  if (globalThis.gc) return globalThis.gc;
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as NodeJS.GCFunction;
}
