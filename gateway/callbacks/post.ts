import {
  Agent as HttpAgent,
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { TcpSocketConnectOpts } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import { systemClock, type Clock } from '../../shared/lib/clock.ts';
import { ServiceError } from '../../shared/lib/errors.ts';
import { cutUtf8 } from '../../shared/lib/text.ts';
import { errorCode } from '../../shared/lib/guards.ts';
import { CallbackAllow } from './callback-allow.ts';
import { parseCallbackUrl, type CallbackUrl } from './callback-url.ts';
import {
  GuardError,
  guardedLookup,
  sharingResolve,
  systemResolve,
  type Resolve,
} from './guarded-lookup.ts';

const DEADLINE_MS = 15_000;
const SOCKETS_PER_DESTINATION = 32;
/** An unused connection is closed after this, or earlier if the receiver says so. */
const IDLE_MS = 10_000;
/** For hosts with several addresses: by default Node tries the next one after 250 ms, too soon for distant hosts. */
const ADDRESS_MS = 2000;
const RESPONSE_KEPT_BYTES = 1024;
const RESPONSE_MAX_BYTES = 64 * 1024;
const RETRY_AFTER_MAX_SECONDS = 86_400;

export interface CallbackPost {
  readonly url: string;
  readonly body: Buffer | string;
  /** Host and Content-Length are set here. */
  readonly headers: Readonly<Record<string, string>>;
  /** From the call to the end of the answer. */
  readonly deadlineMs?: number;
}

interface PostAnswer {
  readonly kind: 'answered';
  /** The status as received; redirects aren't followed, so it may be 3xx. */
  readonly status: number;
  readonly retryAfterSeconds: number | null;
  /** The start of the body, at most 1 KB of UTF-8. */
  readonly response: string;
}

interface PostFailure {
  readonly kind: 'failed';
  /** A sentence for the callback's owner. It reveals nothing about this network. */
  readonly reason: string;
  /** The address isn't allowed, and another attempt won't change that. */
  readonly guard: boolean;
}

/** The result of one attempt. Once a status has come, that's the answer, even if the rest was cut off. */
export type PostResult = (PostAnswer | PostFailure) & { readonly durationMs: number };

export interface SenderOptions {
  readonly allow?: CallbackAllow;
  /** Connections per destination. More posts wait for one while their deadline runs, so callers stay below this. */
  readonly socketsPerDestination?: number;
  /** The rest is for tests. `ca` replaces the public authorities. */
  readonly resolve?: Resolve;
  readonly clock?: Clock;
  readonly idleMs?: number;
  readonly ca?: string;
}

/**
 * Sends callbacks, but never to a private address: the URL is checked before each post, and the addresses of its name at
 * each connection. Connections are reused for the same host and port. That skips no check: an open connection still
 * leads to the address that was checked, whatever its name means now.
 */
export class CallbackSender {
  readonly #allow: CallbackAllow;
  readonly #resolve: Resolve;
  readonly #clock: Clock;
  readonly #ca: string | undefined;
  readonly #secure: HttpsAgent;
  readonly #plain: HttpAgent;
  readonly #limiter: HostLimiter;
  readonly #running = new Set<Cutoff>();
  #isClosed = false;

  constructor(options: SenderOptions = {}) {
    this.#allow = options.allow ?? CallbackAllow.none;
    this.#resolve = sharingResolve(options.resolve ?? systemResolve);
    this.#clock = options.clock ?? systemClock();
    this.#ca = options.ca;
    const maxFreeSockets = options.socketsPerDestination ?? SOCKETS_PER_DESTINATION;
    this.#limiter = new HostLimiter(maxFreeSockets);
    const kept = { keepAlive: true, maxFreeSockets, timeout: options.idleMs ?? IDLE_MS };
    this.#secure = new HttpsAgent(kept);
    this.#plain = new HttpAgent(kept);
  }

  /** Resolves whatever the other side does; rejects for headers that can't be sent. */
  async post(call: CallbackPost): Promise<PostResult> {
    const startedAt = performance.now();
    const cutoff = new Cutoff(call.deadlineMs ?? DEADLINE_MS);
    this.#running.add(cutoff);
    try {
      const outcome = await this.#post(call, cutoff);
      return { ...outcome, durationMs: Math.round(performance.now() - startedAt) };
    } finally {
      cutoff.clear();
      this.#running.delete(cutoff);
    }
  }

  /** Ends all connections. Posts under way fail, and so do later ones. */
  close(): void {
    this.#isClosed = true;
    for (const cutoff of this.#running) cutoff.cut(STOPPED);
    this.#secure.destroy();
    this.#plain.destroy();
  }

  async #post(call: CallbackPost, cutoff: Cutoff): Promise<PostAnswer | PostFailure> {
    if (this.#isClosed) return failed(STOPPED);
    const target = readTarget(call.url, this.#allow);
    if ('kind' in target) return target;
    const release = await this.#limiter.enter(target.destination, cutoff);
    if (release === null) return failed(this.#isClosed ? STOPPED : CROWDED);
    try {
      // The post would reach the receiver but be cut off before the answer.
      if (cutoff.isNear) return failed(CROWDED);
      const first = await this.#exchange(target, call, cutoff, false);
      const last = first === 'stale' ? await this.#exchange(target, call, cutoff, true) : first;
      return last === 'stale' ? failed(CLOSED) : last;
    } finally {
      release();
    }
  }

  /**
   * One request and its answer. `stale` if the receiver closed a reused connection while the post was on its way, which
   * isn't the receiver's failure. Receivers recognise a repeat by its webhook-id.
   */
  #exchange(
    target: CallbackUrl,
    call: CallbackPost,
    cutoff: Cutoff,
    fresh: boolean,
  ): Promise<Outcome> {
    if (cutoff.reason !== null) return Promise.resolve(failed(cutoff.reason));
    const request = this.#open(target, call, fresh);
    return new Promise((resolve) => {
      let answer: Answer | null = null;
      let isSettled = false;
      const settle = (failure: () => Outcome): void => {
        if (isSettled) return;
        isSettled = true;
        resolve(answer?.outcome(this.#clock.now()) ?? failure());
        // If a receiver answered without reading on, the connection would stay blocked.
        if (!request.writableFinished) request.destroy();
      };
      const closed = (): void => settle(() => failed(CLOSED));
      const cut = (reason: string): void => {
        settle(() => failed(reason));
        request.destroy();
      };
      cutoff.onCut(cut);
      request.on('error', (error) => settle(() => failureOf(error, request)));
      request.on('close', closed);
      request.on('response', (response) => {
        answer = new Answer(response);
        response.on('end', closed).on('error', closed);
        response.on('data', (chunk: Buffer) => {
          if (answer?.take(chunk) === false) cut(CLOSED);
        });
      });
      request.end(call.body);
    });
  }

  #open(target: CallbackUrl, call: CallbackPost, fresh: boolean): ClientRequest {
    const { url, host } = target;
    const isSecure = url.protocol === 'https:';
    const agent = isSecure ? this.#secure : this.#plain;
    const options: RequestOptions & AddressOptions = {
      method: 'POST',
      hostname: host,
      port: url.port,
      path: url.pathname + url.search,
      headers: { ...call.headers, host: url.host, 'content-length': Buffer.byteLength(call.body) },
      agent: fresh ? false : agent,
      autoSelectFamilyAttemptTimeout: ADDRESS_MS,
      lookup: guardedLookup(target, this.#allow, this.#resolve),
    };
    if (!isSecure) return httpRequest(options);
    // Set explicitly, so that the environment can't turn it off.
    return httpsRequest({ ...options, rejectUnauthorized: true, ca: this.#ca });
  }
}

type Outcome = PostAnswer | PostFailure | 'stale';
type AddressOptions = Pick<TcpSocketConnectOpts, 'autoSelectFamilyAttemptTimeout'>;

const CLOSED = 'The connection closed before an answer came.';
const STOPPED = 'The service stopped.';
const CROWDED = 'It was not sent: too many requests to this host at once.';

/** Ends one post, whatever it's waiting for, at its own deadline or the service's. */
class Cutoff {
  readonly #timer: NodeJS.Timeout;
  readonly #nearAt: number;
  #reason: string | null = null;
  #act: (reason: string) => void = () => undefined;

  constructor(deadlineMs: number) {
    const late = `No answer came within ${deadlineMs / 1000} s.`;
    this.#timer = setTimeout(() => this.cut(late), deadlineMs);
    this.#nearAt = performance.now() + deadlineMs * 0.9;
  }

  /** Whether nine tenths of the time have passed. */
  get isNear(): boolean {
    return performance.now() > this.#nearAt;
  }

  /** Why the post was ended, or null if it wasn't. */
  get reason(): string | null {
    return this.#reason;
  }

  /** Sets what happens at the end, in place of the previous callback. */
  onCut(act: (reason: string) => void): void {
    this.#act = act;
  }

  cut(reason: string): void {
    this.#reason ??= reason;
    this.#act(this.#reason);
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}

/**
 * Limits the posts to one destination; the others wait in order. Node's agents have such a queue too, but open a
 * connection for each post that leaves it.
 */
class HostLimiter {
  readonly #max: number;
  readonly #hosts = new Map<string, { running: number; readonly waiting: Set<() => void> }>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Resolves with the function to call at the end; null if its turn didn't come before the cutoff. */
  enter(destination: string, cutoff: Cutoff): Promise<(() => void) | null> {
    const host = this.#hosts.get(destination) ?? { running: 0, waiting: new Set() };
    this.#hosts.set(destination, host);
    const release = (): void => {
      const [next] = host.waiting;
      next?.();
      if (next === undefined) host.running -= 1;
      if (host.running === 0) this.#hosts.delete(destination);
    };
    if (host.running < this.#max) {
      host.running += 1;
      return Promise.resolve(release);
    }
    return new Promise((resolve) => {
      const begin = (): void => {
        host.waiting.delete(begin);
        resolve(release);
      };
      host.waiting.add(begin);
      cutoff.onCut(() => {
        if (host.waiting.delete(begin)) resolve(null);
      });
    });
  }
}

function failed(reason: string, guard = false): PostFailure {
  return { kind: 'failed', reason, guard };
}

function readTarget(text: string, allow: CallbackAllow): CallbackUrl | PostFailure {
  try {
    return parseCallbackUrl(text, allow);
  } catch (error) {
    if (error instanceof ServiceError) return failed(error.hint ?? error.message, true);
    throw error;
  }
}

function failureOf(error: Error, request: ClientRequest): Outcome {
  if (error instanceof GuardError) return failed(error.message, true);
  const code = errorCode(error) ?? '';
  if (code === 'ECONNRESET' || code === 'EPIPE') {
    return request.reusedSocket ? 'stale' : failed(CLOSED);
  }
  return failed(reasonOf(code));
}

function reasonOf(code: string): string {
  if (/^(?:ENOTFOUND|ENODATA|EAI_)/.test(code)) return 'The host has no address.';
  if (code === 'ECONNREFUSED') return 'The connection was refused.';
  if (/CERT|SIGNATURE|ISSUER/.test(code)) return `The certificate is not trusted (${code}).`;
  if (/SSL|TLS|EPROTO/.test(code)) return `TLS failed (${code}).`;
  if (code.startsWith('HPE_')) return `The answer is not HTTP (${code}).`;
  return code === '' ? 'The connection failed.' : `The connection failed (${code}).`;
}

/** Keeps little of an answer and reads not much more. */
class Answer {
  readonly #response: IncomingMessage;
  readonly #kept: Buffer[] = [];
  #cameBytes = 0;

  constructor(response: IncomingMessage) {
    this.#response = response;
  }

  /** False if it's too long to read on. */
  take(chunk: Buffer): boolean {
    if (this.#cameBytes < RESPONSE_KEPT_BYTES) this.#kept.push(chunk);
    this.#cameBytes += chunk.length;
    return this.#cameBytes <= RESPONSE_MAX_BYTES;
  }

  outcome(nowMs: number): PostAnswer {
    const { statusCode = 0, headers } = this.#response;
    return {
      kind: 'answered',
      status: statusCode,
      retryAfterSeconds: parseRetryAfter(headers['retry-after'], nowMs),
      response: this.#text(),
    };
  }

  #text(): string {
    const bytes = Buffer.concat(this.#kept).subarray(0, RESPONSE_KEPT_BYTES);
    // Leaves out a character that was cut; the replacement of a wrong byte is longer than the byte.
    return cutUtf8(new StringDecoder('utf8').write(bytes), RESPONSE_KEPT_BYTES);
  }
}

const HTTP_DATE = /^[A-Z][a-z]{2,8}, .{10,30} GMT$/;

/** The seconds in a Retry-After, given as a number or a date, at most a day; null if it's missing or unreadable. */
export function parseRetryAfter(text: string | undefined, nowMs: number): number | null {
  if (text === undefined) return null;
  const seconds = /^\d{1,15}$/.test(text) ? Number(text) : secondsUntil(text, nowMs);
  return Number.isNaN(seconds) ? null : Math.min(Math.max(0, seconds), RETRY_AFTER_MAX_SECONDS);
}

function secondsUntil(text: string, nowMs: number): number {
  return HTTP_DATE.test(text) ? Math.ceil((Date.parse(text) - nowMs) / 1000) : Number.NaN;
}
