import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

/** The time between SIGTERM and SIGKILL. */
const KILL_GRACE_MS = 5000;
/** How long to keep reading output after the command ended, if something it started keeps the pipe open. */
const OUTPUT_GRACE_MS = 1000;
const LINE_MAX_BYTES = 8192;

export interface ChildOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly input: string;
  /** How much of the start of standard output is kept. */
  readonly headBytes: number;
  /** How much of the end of standard error is kept. */
  readonly tailBytes: number;
  /** Gets each line of standard output as it's printed. */
  readonly onPrinted: (line: string) => void;
  /** Gets each line of standard error as it's printed. */
  readonly onLine: (line: string) => void;
  /** Ends the command and everything it started. */
  readonly kill: AbortSignal;
}

export interface ChildResult {
  /** Null if a signal ended it or it couldn't be started. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The start of standard output. */
  readonly head: Buffer;
  readonly headComplete: boolean;
  /** The end of standard error. */
  readonly tail: Buffer;
}

/**
 * Runs a shell command with text on its standard input. Its own process group keeps Ctrl-C in the terminal away from
 * it, and lets svc end everything it started.
 */
export async function runChild(command: string, options: ChildOptions): Promise<ChildResult> {
  const child = spawn('sh', ['-c', command], {
    env: options.env,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const head = new Head(options.headBytes);
  const tail = new Tail(options.tailBytes);
  const closed = once(child, 'close').catch(() => undefined);
  const exited = exit(child);
  // A command may close its input without reading it all.
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input);
  child.stdout.on('data', (chunk: Buffer) => head.add(chunk));
  child.stderr.on('data', (chunk: Buffer) => tail.add(chunk));
  eachLine(child.stdout, options.onPrinted);
  eachLine(child.stderr, options.onLine);
  const release = killWhen(options.kill, child);
  try {
    const { code, signal, failure } = await exited;
    if (failure === null)
      await Promise.race([closed, delay(OUTPUT_GRACE_MS, null, { ref: false })]);
    else tail.add(Buffer.from(failure));
    return { code, signal, head: head.bytes(), headComplete: head.complete, tail: tail.bytes() };
  } finally {
    release();
    child.stdout.destroy();
    child.stderr.destroy();
  }
}

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why it couldn't be started. */
  readonly failure: string | null;
}

function exit(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal, failure: null }));
    child.once('error', (error) => resolve({ code: null, signal: null, failure: error.message }));
  });
}

function killWhen(signal: AbortSignal, child: ChildProcess): () => void {
  let timer: NodeJS.Timeout | undefined;
  const kill = (): void => {
    signalGroup(child, 'SIGTERM');
    timer = setTimeout(() => signalGroup(child, 'SIGKILL'), KILL_GRACE_MS);
  };
  if (signal.aborted) kill();
  else signal.addEventListener('abort', kill, { once: true });
  return () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', kill);
  };
}

function signalGroup(child: ChildProcess, name: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, name);
  } catch {
    // The group has already ended.
  }
}

class Head {
  readonly #max: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  complete = true;

  constructor(max: number) {
    this.#max = max;
  }

  add(chunk: Buffer): void {
    const kept = chunk.subarray(0, this.#max - this.#bytes);
    if (kept.length < chunk.length) this.complete = false;
    if (kept.length === 0) return;
    this.#chunks.push(kept);
    this.#bytes += kept.length;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}

class Tail {
  readonly #max: number;
  #kept = Buffer.alloc(0);

  constructor(max: number) {
    this.#max = max;
  }

  add(chunk: Buffer): void {
    const joined = Buffer.concat([this.#kept, chunk.subarray(-this.#max)]);
    this.#kept = joined.subarray(-this.#max);
  }

  bytes(): Buffer {
    return this.#kept;
  }
}

/** Passes on whole lines; splits very long ones. */
function eachLine(stream: Readable, onLine: (line: string) => void): void {
  let rest = Buffer.alloc(0);
  stream.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (let end = lineEnd(rest); end >= 0; end = lineEnd(rest)) {
      onLine(rest.toString('utf8', 0, end).replace(/\r$/, ''));
      rest = rest.subarray(rest[end] === NEWLINE ? end + 1 : end);
    }
  });
  // Not on 'end', which never comes if something the command left running keeps the pipe open.
  stream.on('close', () => {
    if (rest.length > 0) onLine(rest.toString('utf8'));
  });
}

const NEWLINE = 0x0a;

function lineEnd(bytes: Buffer): number {
  const end = bytes.indexOf(NEWLINE);
  return end < 0 && bytes.length > LINE_MAX_BYTES ? LINE_MAX_BYTES : end;
}
