import { errorCode } from '../../../shared/lib/guards.ts';
import { isTlsRefusal } from '../../../shared/host/tls-refusal.ts';
import { VERSION } from '../../../shared/lib/version.ts';
import type { Caller, CallerOptions } from '../core/caller.ts';
import { badAnswer, type SvcError } from '../core/errors.ts';
import { answeredError, AuthenticationError, ConnectionError } from '../errors.ts';
import type { Answered, Transport } from './transport.ts';

/** Where calls go, and with which key. */
export interface Target {
  /** Null means this machine's daemon. */
  readonly gateway: URL | null;
  readonly apiKey: string;
  readonly transport: Transport;
  /** What to check if nothing answers there. */
  readonly hint: string | null;
}

const SILENCE_MS = 30_000;
/** Nothing is listening, so nothing was sent. */
const NOBODY_CODES: ReadonlySet<string> = new Set([
  'ENOENT',
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** Makes one try of a call. */
export class HttpCaller implements Caller {
  readonly #find: () => Promise<Target>;
  readonly #agent: string | undefined;
  #target: Promise<Target> | null = null;
  /** Known after the first call. */
  gateway: URL | null = null;

  /** `find` says where calls go; it's asked again after a call that nobody took. */
  constructor(find: () => Promise<Target>, agent: string | undefined) {
    this.#find = find;
    this.#agent = agent;
  }

  async call(method: string, path: string, options: CallerOptions = {}): Promise<unknown> {
    options.signal?.throwIfAborted();
    this.#target ??= this.#find();
    const target = await this.#target.catch((error: unknown) => {
      this.#target = null;
      throw error;
    });
    this.gateway = target.gateway;
    if (target.apiKey === '') throw keyless(target);
    const answer = await this.#send(target, method, path, options);
    const requestId = answer.header('x-request-id');
    const body = parsed(answer.text);
    if (answer.status === 401) this.#target = null;
    if (answer.status < 200 || answer.status >= 300) {
      throw answeredError(answer.status, withPause(body, answer), requestId);
    }
    if (body === undefined) throw badAnswer("The answer isn't JSON.");
    return body;
  }

  async #send(
    target: Target,
    method: string,
    path: string,
    options: CallerOptions,
  ): Promise<Answered> {
    const { signal, timeoutMs = SILENCE_MS } = options;
    const timeout = AbortSignal.timeout(Math.max(1, Math.ceil(timeoutMs)));
    try {
      return await target.transport({
        method,
        path: path + queryText(path, options.query),
        headers: this.#headers(target, method, options),
        body: bodyOf(options),
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      this.#target = null;
      throw timeout.aborted ? silent(timeoutMs) : broken(target, error);
    }
  }

  #headers(target: Target, method: string, options: CallerOptions): Record<string, string> {
    const own = Object.entries(options.headers ?? {}).map(([name, value]) => [
      name.toLowerCase(),
      value,
    ]);
    return {
      accept: 'application/json',
      'user-agent': `svc-client-typescript/${VERSION}`,
      'x-service-version': VERSION,
      ...(target.apiKey && { authorization: `Bearer ${target.apiKey}` }),
      ...(this.#agent && { 'x-service-agent': this.#agent }),
      ...(method !== 'GET' && { 'idempotency-key': crypto.randomUUID() }),
      ...(options.body !== undefined && { 'content-type': 'application/json' }),
      ...(Object.fromEntries(own) as Record<string, string>),
    };
  }
}

function bodyOf({ body, bytes }: CallerOptions): string | Uint8Array<ArrayBuffer> | undefined {
  if (body !== undefined) return JSON.stringify(body);
  return bytes as Uint8Array<ArrayBuffer> | undefined;
}

function queryText(path: string, query: CallerOptions['query']): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, String(one));
  }
  if (search.size === 0) return '';
  return (path.includes('?') ? '&' : '?') + search.toString();
}

/** Undefined if the text isn't JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** A proxy says in a header how long to wait, svc says it in the body. */
function withPause(body: unknown, { header, status }: Answered): unknown {
  const seconds = Number(header('retry-after') ?? '');
  if (body !== undefined || !(seconds > 0)) return body;
  const message = `The server answered HTTP ${status} without an svc error.`;
  return { error: { code: `HTTP_${status}`, message, details: { retry_after: seconds } } };
}

/** Waiting doesn't bring a key, so it isn't tried again. */
function keyless({ hint }: Target): SvcError {
  const message = 'No API key is stored here, and SVC_API_KEY is not set.';
  return new AuthenticationError({ code: 'UNAUTHENTICATED', message, hint });
}

function silent(timeoutMs: number): SvcError {
  const message = `No answer within ${timeoutMs / 1000} s.`;
  return new ConnectionError({ code: 'UNREACHABLE', message, details: { sent: true } });
}

/** What fetch and node:http throw when there is no answer. */
function broken({ gateway, hint }: Target, error: unknown): unknown {
  const code = codeOf(error);
  const there = gateway?.origin ?? 'the daemon of this machine';
  const failure = { code: 'UNREACHABLE', cause: error };
  if (isTlsRefusal(code)) {
    const message = `Can't make a secure connection to ${there} (${code}).`;
    return new ConnectionError({ ...failure, message, retryable: false });
  }
  if (NOBODY_CODES.has(code)) {
    const message = `Can't reach ${there} (${code}).`;
    return new ConnectionError({ ...failure, message, hint });
  }
  // Our own bug, or the user's: a header with a line break, say.
  if (code.startsWith('ERR_') || (code === '' && !(error instanceof TypeError))) return error;
  const message = `The connection to ${there} broke${code && ` (${code})`}.`;
  return new ConnectionError({ ...failure, message, details: { sent: true } });
}

function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return errorCode(error) ?? errorCode(cause) ?? '';
}
