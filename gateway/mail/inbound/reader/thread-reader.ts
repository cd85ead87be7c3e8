import { Worker } from 'node:worker_threads';
import { unavailable } from '../../../../shared/lib/errors.ts';
import type { MailReader, ReadMail, MailFacts } from '../read-mail.ts';
import type { ReaderData, ReaderMessage, ReadRequest } from './messages.ts';
import { unreadMail } from './unread.ts';

/** Next to the bundle, or in development next to this source file. */
const ENTRY = new URL(
  import.meta.url.endsWith('.ts') ? './reader-source.mjs' : './mail-reader.js',
  import.meta.url,
);
/** While one mail waits for the DNS, another one is parsed; more run at once if all are small. */
const AT_ONCE = 2;
const SMALL_AT_ONCE = 8;
const SMALL_BYTES = 256 * 1024;
const READ_TIMEOUT_MS = 20_000;
const START_TIMEOUT_MS = 20_000;
const IDLE_MS = 60_000;
const MEMORY = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 48 };
const RETRY_SECONDS = 5;

/**
 * How a mail is tried: first together with others; alone, if the thread ended and another mail may be to blame; only its
 * header, if the mail itself is to blame.
 */
type Care = 'beside' | 'alone' | 'header';

interface Job {
  readonly id: number;
  readonly raw: Uint8Array;
  readonly seen: MailFacts;
  readonly resolve: (mail: ReadMail) => void;
  readonly reject: (error: unknown) => void;
  care: Care;
  timer: NodeJS.Timeout | null;
}

interface ReaderOptions {
  /** `host:port` of each server to ask for keys and policies; the system's own if empty. */
  readonly dnsServers: readonly string[];
  /** The rest is for tests. */
  readonly entry?: URL;
  readonly readTimeoutMs?: number;
  readonly idleMs?: number;
}

/**
 * Reads mails in a thread of their own. No mail can hold up the main thread, and a mail that ends the reader's thread only
 * loses its own parts. The thread starts with the first mail and ends after a while without any.
 */
export class ThreadMailReader implements MailReader {
  readonly #entry: URL;
  readonly #data: ReaderData;
  readonly #readTimeoutMs: number;
  readonly #idleMs: number;
  /** Mails that were tried before come first. */
  readonly #queue: Job[] = [];
  readonly #underWay = new Map<number, Job>();
  #thread: ReaderThread | null = null;
  readonly #ending = new Set<Promise<unknown>>();
  #idle: NodeJS.Timeout | null = null;
  #lastId = 0;
  #closed = false;

  constructor(options: ReaderOptions) {
    this.#entry = options.entry ?? ENTRY;
    this.#data = { dnsServers: options.dnsServers };
    this.#readTimeoutMs = options.readTimeoutMs ?? READ_TIMEOUT_MS;
    this.#idleMs = options.idleMs ?? IDLE_MS;
  }

  read(raw: Uint8Array, seen: MailFacts): Promise<ReadMail> {
    if (this.#closed) return Promise.reject(unavailable(RETRY_SECONDS));
    return new Promise((resolve, reject) => {
      this.#lastId += 1;
      this.#queue.push({
        id: this.#lastId,
        raw,
        seen,
        resolve,
        reject,
        care: 'beside',
        timer: null,
      });
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#endThread();
    this.#refuseAll(new Error('The reader of mails was closed.'));
    await Promise.all(this.#ending);
  }

  /** Whether a thread is running. */
  get isAwake(): boolean {
    return this.#thread !== null;
  }

  #next(): void {
    for (let [job] = this.#queue; job !== undefined && this.#hasRoomFor(job); [job] = this.#queue) {
      this.#queue.shift();
      this.#underWay.set(job.id, job);
      this.#thread ??= this.#startThread();
      if (this.#thread.isReady) this.#send(this.#thread, job);
    }
    this.#rest();
  }

  #hasRoomFor(job: Job): boolean {
    const others = [...this.#underWay.values()];
    if (others.length === 0) return true;
    const all = [...others, job];
    const atOnce = all.every(({ raw }) => raw.length <= SMALL_BYTES) ? SMALL_AT_ONCE : AT_ONCE;
    return all.length <= atOnce && all.every(({ care }) => care === 'beside');
  }

  #startThread(): ReaderThread {
    const thread: ReaderThread = new ReaderThread(this.#entry, this.#data, {
      onReady: () => {
        for (const job of this.#underWay.values()) this.#send(thread, job);
      },
      onMessage: (message) => {
        if (thread === this.#thread) this.#take(message);
      },
      onEnd: (error) => {
        if (thread === this.#thread) this.#threadEnded(thread, error);
      },
    });
    return thread;
  }

  #send(thread: ReaderThread, job: Job): void {
    thread.ask({
      id: job.id,
      bytes: job.raw,
      seen: job.seen,
      headerOnly: job.care === 'header',
    });
    job.timer = setTimeout(() => this.#replaceThread(), this.#readTimeoutMs);
  }

  #take(message: Exclude<ReaderMessage, { kind: 'ready' }>): void {
    const job = this.#underWay.get(message.id);
    if (job === undefined) return;
    this.#underWay.delete(job.id);
    if (job.timer !== null) clearTimeout(job.timer);
    if (message.kind === 'read') job.resolve(message.mail);
    else this.#tryAgain(job, true);
    this.#next();
  }

  #replaceThread(): void {
    this.#endThread();
    this.#retryAll();
  }

  #threadEnded(thread: ReaderThread, error: unknown): void {
    this.#thread = null;
    // It never started to read, so no mail is to blame.
    if (!thread.isReady) this.#refuseAll(error);
    else this.#retryAll();
  }

  /** A mail that was alone in the thread is to blame for its end. */
  #retryAll(): void {
    const jobs = [...this.#underWay.values()];
    this.#underWay.clear();
    for (const job of jobs) {
      if (job.timer !== null) clearTimeout(job.timer);
      this.#tryAgain(job, jobs.length === 1);
    }
    this.#next();
  }

  #tryAgain(job: Job, isToBlame: boolean): void {
    if (job.care === 'header') {
      unreadMail(job.raw, job.seen).then(job.resolve, job.reject);
      return;
    }
    job.care = isToBlame ? 'header' : 'alone';
    this.#queue.unshift(job);
  }

  #refuseAll(error: unknown): void {
    for (const job of [...this.#underWay.values(), ...this.#queue]) {
      if (job.timer !== null) clearTimeout(job.timer);
      job.reject(unavailable(RETRY_SECONDS, error));
    }
    this.#underWay.clear();
    this.#queue.length = 0;
  }

  #endThread(): void {
    if (this.#idle !== null) clearTimeout(this.#idle);
    const thread = this.#thread;
    this.#thread = null;
    if (thread === null) return;
    const ended = thread.end().finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }

  /** Without work, the thread doesn't keep the process alive and soon ends. */
  #rest(): void {
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#idle = null;
    const idle = this.#underWay.size === 0;
    this.#thread?.hold(!idle);
    if (idle && this.#thread !== null) {
      this.#idle = setTimeout(() => this.#endThread(), this.#idleMs).unref();
    }
  }
}

interface ThreadEvents {
  readonly onReady: () => void;
  readonly onMessage: (message: Exclude<ReaderMessage, { kind: 'ready' }>) => void;
  readonly onEnd: (error: unknown) => void;
}

/** One thread, from its start to its end. */
class ReaderThread {
  isReady = false;
  readonly #worker: Worker;
  #error: unknown = new Error('The thread that reads mails has ended.');

  constructor(entry: URL, data: ReaderData, { onReady, onMessage, onEnd }: ThreadEvents) {
    this.#worker = new Worker(entry, {
      workerData: data,
      name: 'mail-reader',
      resourceLimits: MEMORY,
    });
    const starting = setTimeout(() => void this.end(), START_TIMEOUT_MS);
    this.#worker.on('message', (message: ReaderMessage) => {
      if (message.kind !== 'ready') return onMessage(message);
      clearTimeout(starting);
      this.isReady = true;
      onReady();
    });
    this.#worker.on('error', (error) => {
      this.#error = error;
    });
    this.#worker.once('exit', () => {
      clearTimeout(starting);
      onEnd(this.#error);
    });
  }

  /** Transfers a copy of the bytes, so that the caller keeps its own. */
  ask(request: ReadRequest): void {
    const bytes = new Uint8Array(request.bytes);
    this.#worker.postMessage({ ...request, bytes }, [bytes.buffer]);
  }

  hold(on: boolean): void {
    if (on) this.#worker.ref();
    else this.#worker.unref();
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}
