import { fork, type ChildProcess } from 'node:child_process';
import type { Logger } from 'pino';
import type { Link } from './link.ts';
import type { PrepareResult, SyncAnswer, SyncRequest, SyncTask } from './messages.ts';
import { SyncError, syncEndOf, syncErrorOf } from './sync-failure.ts';

/** Next to the bundle, or next to this source file in development. */
const ENTRY = new URL(
  import.meta.url.endsWith('.ts') ? './child-source.mjs' : './replica-child.js',
  import.meta.url,
);
/** How much of an ending process's last output to log. */
const LAST_WORDS_MAX_CHARS = 2000;
const LOOK_MS = 1000;

interface Pending {
  readonly resolve: (value: PrepareResult | null) => void;
  readonly reject: (error: SyncError) => void;
}

/** The process with the database client. If it crashes, this process survives. */
export class SyncProcess {
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, Pending>();
  readonly #gone: Promise<void>;
  #lastId = 0;
  #hasEnded = false;
  #lastWords = '';

  constructor(log: Logger) {
    const { SVC_API_KEY: _, ...env } = process.env;
    this.#child = fork(ENTRY, [], {
      env,
      execArgv: [],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#lastWords = (this.#lastWords + text).slice(-LAST_WORDS_MAX_CHARS);
    });
    this.#child.on('message', (message: SyncAnswer) => this.#settle(message));
    this.#gone = new Promise((resolve) => {
      const ended = (error: SyncError): void => {
        if (this.#lastWords) log.warn({ said: this.#lastWords }, 'replica process: last words');
        this.#end(error);
        resolve();
      };
      this.#child.once('error', ({ message }) => ended(new SyncError('ended', message)));
      this.#child.once('close', (code, signal) => ended(syncEndOf(code, signal)));
    });
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** For tests that kill it. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  prepare(folder: string): Promise<PrepareResult> {
    return this.#ask({ kind: 'prepare', folder }) as Promise<PrepareResult>;
  }

  async open(
    folder: string,
    { syncUrl, token, progress }: Pick<Link, 'syncUrl' | 'token' | 'progress'>,
    silenceMs: number,
  ): Promise<void> {
    await this.#watch(this.#ask({ kind: 'open', folder, syncUrl, token }), silenceMs, progress);
  }

  /** Kills the process if it neither answers nor changes `progress` for `silenceMs`. Rejects with `SyncError`. */
  async sync(silenceMs: number, progress: () => unknown): Promise<void> {
    await this.#watch(this.#ask({ kind: 'sync' }), silenceMs, progress);
  }

  /** Ends the process at once: it has nothing to clean up. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#gone;
  }

  #ask(task: SyncTask): Promise<PrepareResult | null> {
    if (this.#hasEnded)
      return Promise.reject(new SyncError('ended', 'The replica process exited.'));
    return new Promise((resolve, reject) => {
      this.#lastId += 1;
      this.#pending.set(this.#lastId, { resolve, reject });
      const request: SyncRequest = { ...task, id: this.#lastId };
      // A send fails if the process is ending; its end then rejects this promise.
      this.#child.send(request, () => undefined);
    });
  }

  async #watch(work: Promise<unknown>, silenceMs: number, progress: () => unknown): Promise<void> {
    let seen = progress();
    let movedAt = performance.now();
    const watch = setInterval(
      () => {
        const now = progress();
        if (now !== seen) movedAt = performance.now();
        seen = now;
        if (performance.now() - movedAt > silenceMs) this.#child.kill('SIGKILL');
      },
      Math.min(LOOK_MS, silenceMs / 2),
    );
    try {
      await work;
    } finally {
      clearInterval(watch);
    }
  }

  #settle(message: SyncAnswer): void {
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if (message.ok) pending?.resolve(message.value);
    else pending?.reject(syncErrorOf(message.message));
  }

  #end(error: SyncError): void {
    this.#hasEnded = true;
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}
