/** What Ctrl-C and SIGTERM do to a worker. */
export interface Interrupts {
  /** Fires at the first: claim no more events. */
  readonly first: AbortSignal;
  /** Fires at the second: end the handlers. */
  readonly second: AbortSignal;
  /** Fires a moment after the second: don't wait for the handlers any longer. */
  readonly late: AbortSignal;
  readonly release: () => void;
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
/** A program that starts another, such as npm or tsx, passes a Ctrl-C on that the other already has. */
const SAME_MS = 300;
const GRACE_MS = 2000;

interface Stages {
  readonly first: AbortController;
  readonly second: AbortController;
  readonly late: AbortController;
}

/** All workers of this program: a Ctrl-C is for each of them. */
const workers = new Set<Stages>();
let count = 0;
let countedAt = -Infinity;
let endedBy: NodeJS.Signals | null = null;
let grace: NodeJS.Timeout | undefined;

/**
 * Listens for a worker until it's released. After a second Ctrl-C, the last one released ends the program by it; a third
 * ends it at once.
 */
export function interrupts(): Interrupts {
  const own: Stages = {
    first: new AbortController(),
    second: new AbortController(),
    late: new AbortController(),
  };
  if (workers.size === 0) listen();
  workers.add(own);
  if (count > 0) own.first.abort();
  return {
    first: own.first.signal,
    second: own.second.signal,
    late: own.late.signal,
    release: () => {
      workers.delete(own);
      if (workers.size === 0) ended();
    },
  };
}

function listen(): void {
  for (const signal of SIGNALS) globalThis.process?.on(signal, interrupted);
}

function unlisten(): void {
  for (const signal of SIGNALS) globalThis.process?.off(signal, interrupted);
}

function interrupted(signal: NodeJS.Signals): void {
  const now = performance.now();
  if (now - countedAt < SAME_MS) return;
  countedAt = now;
  count += 1;
  if (count === 1) {
    for (const { first } of workers) first.abort();
  } else if (count === 2) {
    endedBy = signal;
    for (const { second } of workers) second.abort();
    grace = setTimeout(() => {
      for (const { late } of workers) late.abort();
    }, GRACE_MS);
  } else {
    unlisten();
    process.kill(process.pid, signal);
  }
}

function ended(): void {
  unlisten();
  clearTimeout(grace);
  const signal = endedBy;
  count = 0;
  countedAt = -Infinity;
  endedBy = null;
  if (signal !== null) process.kill(process.pid, signal);
}
