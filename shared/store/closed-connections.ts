import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** So many closed connections are waited for before their files are asked back, or so long after the first of them. */
const CLOSED_MAX = 256;
const AFTER_MS = 10_000;

let closed = 0;
let timer: NodeJS.Timeout | null = null;
let gc: NodeJS.GCFunction | null = null;

/**
 * To be called when a connection was closed. The driver has no call that ends a statement: a connection keeps its files
 * open until V8 has collected the last of its statements, and V8, which sees only small objects, is in no hurry. Where
 * databases are opened and closed all the time it is asked to collect; each thread does for its own.
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
  // Not within the call that has closed the last one, which still holds it.
  setImmediate(() => gc?.());
}

function exposed(): NodeJS.GCFunction {
  if (globalThis.gc) return globalThis.gc;
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as NodeJS.GCFunction;
}
