import { staleNote } from '../../../shared/api/answer-marks.ts';
import { VERSION } from '../../../shared/lib/version.ts';
import type { Caller, CallerOptions } from '../core/caller.ts';
import { answeredFailure, pageFailure, SvcError, type Failure } from '../core/errors.ts';
import type { Connection } from '../node/connection.ts';
import type { Answer, Transport } from './transport.ts';
import { unanswered } from './unanswered.ts';

/** Where calls go, and how. */
export interface Target<A extends Answer = Answer> extends Connection {
  readonly transport: Transport<A>;
}

/** How JSON is read and written. */
interface Json {
  readonly parse: (text: string) => unknown;
  readonly stringify: (value: unknown) => string;
}

interface HttpCallerOptions<A extends Answer> {
  /** Says where calls go; asked again after a call that nobody took. */
  readonly find: () => Target<A> | Promise<Target<A>>;
  /** The program, for the User-Agent. */
  readonly name: string;
  /** The caller's name, for the ledger. */
  readonly agent: string | undefined;
  /** Makes what is thrown. */
  readonly errorOf: (failure: Failure) => SvcError;
  /** Tells a person. */
  readonly note: (text: string) => void;
  readonly json?: Json;
}

const SILENCE_MS = 30_000;

/** Makes one try of a call. */
export class HttpCaller<A extends Answer = Answer> implements Caller {
  readonly #options: HttpCallerOptions<A>;
  readonly #json: Json;
  readonly #noted = new Set<string>();
  #target: Target<A> | null = null;
  /** Known after the first call. */
  gateway: URL | null = null;

  constructor(options: HttpCallerOptions<A>) {
    this.#options = options;
    this.#json = options.json ?? JSON;
  }

  async send(method: string, path: string, options: CallerOptions = {}): Promise<unknown> {
    const { status, header, text } = await this.#exchange(
      method,
      path,
      options,
      async (answer) => ({
        ...answer,
        text: await answer.text(),
      }),
    );
    const body = this.#parsed(text);
    const place = { path, server: header('server') };
    if (status < 200 || status >= 300) {
      const [id, pause] = [header('x-request-id'), header('retry-after')];
      throw this.#options.errorOf(answeredFailure(status, body, id, pause, place));
    }
    if (body === undefined) throw this.#options.errorOf(pageFailure(status, place));
    return body;
  }

  /** Returns the answer whatever its status, for streams. */
  open(method: string, path: string, options: CallerOptions = {}): Promise<A> {
    return this.#exchange(method, path, options, (answer) => answer);
  }

  async #exchange<T>(
    method: string,
    path: string,
    options: CallerOptions,
    read: (answer: A) => T | Promise<T>,
  ): Promise<T> {
    const { signal, timeoutMs = SILENCE_MS } = options;
    signal?.throwIfAborted();
    this.#target ??= await this.#options.find();
    const target = this.#target;
    this.gateway = target.gateway;
    if (target.refusal) throw target.refusal;
    this.#note(target.warning);
    const body = options.body === undefined ? options.bytes : this.#json.stringify(options.body);
    const headers = this.#headers(target, options);
    try {
      const answer = await target.transport({
        method,
        path: path + queryText(path, options.query),
        headers,
        body,
        signal,
        timeoutMs,
      });
      if (answer.status === 401) this.#target = null;
      if (answer.header('x-service-stale') === 'true') {
        this.#note(staleNote(Number(answer.header('x-service-replica-age'))), 'stale');
      }
      return await read(answer);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      this.#target = null;
      const failure = unanswered(target, timeoutMs, error);
      throw failure ? this.#options.errorOf(failure) : error;
    }
  }

  /** Each once. */
  #note(text: string | undefined, topic = text): void {
    if (text === undefined || topic === undefined || this.#noted.has(topic)) return;
    this.#noted.add(topic);
    this.#options.note(text);
  }

  #headers({ apiKey }: Target<A>, options: CallerOptions): Record<string, string> {
    const { name, agent } = this.#options;
    if (agent && !/^[\u0020-\u007e\u00a0-\u00ff]+$/.test(agent)) {
      const message = "SVC_AGENT has characters that aren't allowed in a header.";
      throw new SvcError({ code: 'USAGE', message });
    }
    return {
      accept: 'application/json',
      'user-agent': `${name}/${VERSION}`,
      'x-service-version': VERSION,
      ...(apiKey && { authorization: `Bearer ${apiKey}` }),
      ...(agent && { 'x-service-agent': agent }),
      ...(options.body !== undefined && { 'content-type': 'application/json' }),
      ...lowerCased(options.headers),
    };
  }

  /** Undefined if the text isn't JSON. */
  #parsed(text: string): unknown {
    try {
      return this.#json.parse(text);
    } catch {
      return undefined;
    }
  }
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

/** Names of headers in lower case, so that one given takes the place of our own. */
export function lowerCased(headers: CallerOptions['headers']): Record<string, string> {
  const pairs = Object.entries(headers ?? {});
  return Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value]));
}
