import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, errors, Pool, type Dispatcher } from 'undici';
import { requestOf, type RestRequest } from './rest-request.ts';
import { REPLAYED_HEADER } from '../../shared/api/answer-marks.ts';
import { beside } from '../../shared/lib/beside.ts';
import { wholeOf } from '../../shared/lib/bytes.ts';
import type { Caller } from '../../shared/kernel/context.ts';
import type { ServiceError } from '../../shared/lib/errors.ts';
import { parseExact } from '../../shared/lib/json/exact-json.ts';
import type { Answer, Credentials } from '../../shared/kernel/executor.ts';
import { mayWait, parseInput, waitField, type Operation } from '../../shared/kernel/operation.ts';
import { isObject } from '../../shared/lib/guards.ts';
import { heldCall, leastOf } from '../../shared/lib/held-call.ts';
import { CONNECT } from './connecting.ts';
import { relayedAnswer, relayedError } from './relayed.ts';
import { isBroken, isUnsent, reasonOf, UpstreamError } from './upstream-error.ts';

/** Clients wait 30 s for the daemon: so they hear why their gateway is silent. */
const ANSWER_MS = 28_000;
/** Far above the largest real answer: a 1 MB file as base64, or a list with a hundred payloads. */
const ANSWER_MAX_BYTES = 16 * 1024 * 1024;
/** How long a wait may stay silent beyond its own timeout. */
const WAIT_MARGIN_MS = 10_000;
/** How long an unused connection stays open; the gateway can shorten it. */
const KEEP_ALIVE_MS = 30_000;
const CONNECTIONS_MAX = 256;
/** A call without an answer for this long is sent again over a new connection, if the gateway answers there. */
const ALONE_MS = 700;
/** How often a wait at the gateway checks that the gateway is still there, and asks again for what it's waiting for. */
const ATTEND_MS = 1_000;
const RETRY_PAUSE_MS = 100;
/** Pauses before repeats while the first try still runs at the gateway: transactions are short. */
const BUSY_PAUSES_MS: readonly number[] = [50, 100, 200, 400, 800, 1600];

const CONNECTION = {
  pipelining: 1,
  keepAliveTimeout: KEEP_ALIVE_MS,
  connect: CONNECT,
  maxResponseSize: ANSWER_MAX_BYTES,
};

/** A call and its caller. */
export interface UpstreamCall {
  readonly operation: Operation;
  /** The caller's raw input; the gateway parses it. */
  readonly input: unknown;
  readonly caller: Pick<Caller, 'agent' | 'idempotencyKey'>;
  /** The caller's own credentials, passed on unchanged. */
  readonly credentials: Credentials;
  readonly signal: AbortSignal;
  /** Milliseconds until the answer must be there; set if the replica can answer after that. */
  readonly timeoutMs?: number;
}

/** What else is known of the connection to the gateway. */
export interface KnownLine {
  /** Has the gateway asked, in the background, if nothing was heard of it for long. */
  attend(): void;
  /** True once the gateway answers over a new connection; false if it can't be reached. */
  answers(signal: AbortSignal): Promise<boolean>;
}

interface UpstreamOptions {
  /** Limits an answer from its first byte on, in milliseconds (default 30 s; tests change it). */
  readonly answerMs?: number;
  /** Null while nothing is known. */
  readonly line?: () => KnownLine | null;
}

interface UpstreamResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Calls a gateway over HTTP with the callers' own keys. */
export class Upstream {
  readonly #base: URL;
  readonly #answerMs: number;
  readonly #line: () => KnownLine | null;
  #pool: Pool;
  /** Those that are closing. */
  readonly #old = new Set<Pool>();
  /** Wake the waits for which a silence may have cost the connection. */
  readonly #waiting = new Set<() => void>();

  /** `gateway` is the base address; its path precedes every route. */
  constructor(gateway: URL, { answerMs = ANSWER_MS, line = () => null }: UpstreamOptions = {}) {
    this.#base = gateway;
    this.#answerMs = answerMs;
    this.#line = line;
    this.#pool = this.#openPool();
  }

  /** Scheme and host, for people. */
  get origin(): string {
    return this.#base.origin;
  }

  /**
   * The gateway's answer. Throws the gateway's own error, or `UpstreamError` if there was no answer. Retries once
   * after a broken connection, and sends again beside a silent one; the Idempotency-Key makes that safe for writes. A
   * wait that something in between cuts is asked again for the rest of its time.
   */
  async call(call: UpstreamCall): Promise<Answer> {
    const headers = headersOf(call);
    const seconds = waitSeconds(call);
    const field = waitField(call.operation);
    if (seconds === 0 || field === null) return this.#once(call, headers);
    const input = isObject(call.input) ? call.input : {};
    let cut: unknown = null;
    try {
      return await heldCall({
        seconds,
        leastSeconds: leastOf(field),
        send: (left) => {
          const rest = left === seconds ? call : { ...call, input: { ...input, [field]: left } };
          return this.#once(rest, headers);
        },
        isCut: (error) => {
          if (call.signal.aborted || !isUncertain(error)) return false;
          cut = error;
          return true;
        },
        pause: (ms) => sleep(ms, undefined, { signal: call.signal }),
      });
    } catch (error) {
      // What was cut may have arrived, whatever became of its repeats.
      throw error instanceof UpstreamError ? (cut ?? error) : error;
    }
  }

  async #once(call: UpstreamCall, own: Readonly<Record<string, string>>): Promise<Answer> {
    const request = requestOf(call.operation, call.input);
    const headers = { ...own, ...request.headers };
    const received = await this.#answered(call, { ...request, headers });
    const { status, headers: answered, text } = received;
    const value = status >= 200 && status < 300 ? jsonOf(text) : undefined;
    // A portal or proxy in between may answer with anything.
    if (value === undefined) throw this.#refusal(received, call);
    const position = Number(answered['x-service-position']);
    // The daemon made this key, so it isn't a repeat by the caller.
    const isKeyed = call.caller.idempotencyKey !== null;
    const isReplayed = isKeyed && answered[REPLAYED_HEADER.toLowerCase()] === 'true';
    return {
      value: relayedAnswer(value),
      ...(isReplayed && { replayed: true }),
      ...(Number.isSafeInteger(position) && { position }),
    };
  }

  /** The gateway answers again after a silence: connections from before it may be dead, and get no more calls. */
  returned(): void {
    const pool = this.#pool;
    this.#pool = this.#openPool();
    this.#old.add(pool);
    void pool.close().finally(() => this.#old.delete(pool));
    for (const wake of this.#waiting) wake();
  }

  /** Aborts pending calls. */
  async close(): Promise<void> {
    await Promise.all([this.#pool, ...this.#old].map((pool) => pool.destroy()));
  }

  #openPool(): Pool {
    const { origin } = this.#base;
    return new Pool(origin, { ...CONNECTION, connections: CONNECTIONS_MAX });
  }

  async #answered(call: UpstreamCall, request: RestRequest): Promise<UpstreamResponse> {
    let isRepeated = false;
    const send = async (isAgain: boolean, signal: AbortSignal): Promise<UpstreamResponse> => {
      isRepeated ||= isAgain;
      const received = isAgain ? null : await this.#tried(call, request, signal);
      // What was sent later may have overtaken it.
      const isToRepeat = received === null || (isRepeated && isBusy(received));
      return isToRepeat ? this.#afresh(call, request, signal) : received;
    };
    try {
      return await beside({
        send,
        isThere: (signal) => this.#isThere(call, signal),
        aloneMs: ALONE_MS,
      });
    } catch (error) {
      if (!(error instanceof AggregateError)) throw error;
      const failures = error.errors as unknown[];
      throw failures.find(isUncertain) ?? failures[0];
    }
  }

  /** Whether to send a call again. A wait may be silent, so only a silent gateway is a reason. */
  async #isThere(call: UpstreamCall, signal: AbortSignal): Promise<boolean> {
    if (call.timeoutMs !== undefined) return false;
    if (waitSeconds(call) === 0) return (await this.#line()?.answers(signal)) ?? false;
    return new Promise((resolve) => {
      const attending = setInterval(() => this.#line()?.attend(), ATTEND_MS);
      const done = (): void => {
        clearInterval(attending);
        this.#waiting.delete(done);
        resolve(true);
      };
      this.#waiting.add(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  async #tried(
    call: UpstreamCall,
    request: RestRequest,
    over: AbortSignal,
  ): Promise<UpstreamResponse> {
    try {
      return await this.#send(call, request, over, this.#pool);
    } catch (error) {
      call.signal.throwIfAborted();
      if (!isBroken(error)) throw this.#failed(error, call, !isUnsent(error));
      await sleep(RETRY_PAUSE_MS, undefined, { signal: call.signal });
      return this.#again(call, request, over, !isUnsent(error));
    }
  }

  /** Sends it beside others, of which one may still be running at the gateway. Only an answer to the call itself counts. */
  async #afresh(
    call: UpstreamCall,
    request: RestRequest,
    over: AbortSignal,
  ): Promise<UpstreamResponse> {
    let received = await this.#again(call, request, over, true);
    while (isBusy(received) && waitSeconds(call) > 0) {
      await sleep(ATTEND_MS, undefined, { signal: over });
      received = await this.#again(call, request, over, true);
    }
    const { status } = received;
    if (isBusy(received) || status === 429 || status >= 500) throw this.#refusal(received, call);
    return received;
  }

  /** Another try, over a new connection; an earlier one may still be running at the gateway. */
  async #again(
    call: UpstreamCall,
    request: RestRequest,
    over: AbortSignal,
    wasSent: boolean,
  ): Promise<UpstreamResponse> {
    const connection = new Client(this.#base.origin, CONNECTION);
    try {
      for (const pauseMs of BUSY_PAUSES_MS) {
        const received = await this.#send(call, request, over, connection);
        if (!isBusy(received)) return received;
        await sleep(pauseMs, undefined, { signal: AbortSignal.any([call.signal, over]) });
      }
      return await this.#send(call, request, over, connection);
    } catch (error) {
      call.signal.throwIfAborted();
      throw this.#failed(error, call, wasSent || !isUnsent(error));
    } finally {
      void connection.destroy();
    }
  }

  async #send(
    call: UpstreamCall,
    { method, target, headers, body }: RestRequest,
    over: AbortSignal,
    dispatcher: Dispatcher,
  ): Promise<UpstreamResponse> {
    const timeoutMs = silenceMs(call);
    const late = new AbortController();
    const endAfter = (ms: number, error: Error): NodeJS.Timeout =>
      setTimeout(() => late.abort(error), ms);
    // Also give up on an answer that only trickles in.
    const timer = endAfter(timeoutMs + this.#answerMs, new errors.BodyTimeoutError());
    const early =
      call.timeoutMs === undefined
        ? null
        : endAfter(call.timeoutMs, new errors.HeadersTimeoutError());
    // A short call runs to its end even if its client leaves; only a wait stops.
    const leaving = mayWait(call.operation) ? [call.signal] : [];
    try {
      const answer = await dispatcher.request({
        method,
        path: this.#base.pathname.replace(/\/+$/, '') + target,
        headers,
        body: body === null || typeof body === 'string' ? body : wholeOf(body),
        headersTimeout: timeoutMs,
        bodyTimeout: ANSWER_MS,
        signal: AbortSignal.any([...leaving, late.signal, over]),
      });
      const text = await answer.body.text();
      return { status: answer.statusCode, headers: answer.headers, text };
    } finally {
      clearTimeout(early ?? undefined);
      clearTimeout(timer);
    }
  }

  #refusal(received: UpstreamResponse, call: UpstreamCall): ServiceError {
    const error = relayedError(received);
    if (error) return error;
    const reason = `something in front of it answered ${received.status}`;
    return this.#failure(reason, call, true);
  }

  #failed(error: unknown, call: UpstreamCall, mayHaveArrived: boolean): ServiceError {
    return this.#failure(reasonOf(error), call, mayHaveArrived);
  }

  #failure(reason: string, call: UpstreamCall, mayHaveArrived: boolean): UpstreamError {
    const advice = adviceFor(call, mayHaveArrived);
    return new UpstreamError({ gateway: this.origin, reason, mayHaveArrived, advice });
  }
}

function adviceFor({ operation, caller }: UpstreamCall, mayHaveArrived: boolean): string {
  if (operation.effect !== 'write') return 'Repeat it when the gateway is back; see `svc status`.';
  if (!mayHaveArrived)
    return 'Nothing changed: repeat it when the gateway is back; see `svc status`.';
  return caller.idempotencyKey === null
    ? 'It may have worked: check before you repeat it.'
    : 'It may have worked: repeat it with the same idempotency key.';
}

/** Identifies the caller in the caller's own words, and adds the key that makes a repeated write harmless. */
function headersOf({ operation, caller, credentials }: UpstreamCall): Record<string, string> {
  const { authorization, agentHeader, userAgent } = credentials;
  const { agent, idempotencyKey } = caller;
  const isClient = agent.source === 'mcp_client_info' && agent.label !== null;
  return {
    accept: 'application/json',
    ...(authorization !== undefined && { authorization }),
    ...(agentHeader !== undefined && { 'x-service-agent': agentHeader }),
    ...(userAgent !== undefined && { 'user-agent': userAgent }),
    ...(isClient && { 'x-service-client': printable(agent.label ?? '') }),
    ...(operation.effect === 'write' && { 'idempotency-key': idempotencyKey ?? randomUUID() }),
  };
}

/** Headers allow no other characters. */
function printable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '?');
}

/** How long the gateway may stay silent, in milliseconds: a wait answers only at its end. */
function silenceMs(call: UpstreamCall): number {
  const seconds = waitSeconds(call);
  if (seconds === 0) return call.timeoutMs ?? ANSWER_MS;
  return Math.max(ANSWER_MS, seconds * 1000 + WAIT_MARGIN_MS);
}

/** How long the call may wait at the gateway. */
function waitSeconds({ operation, input }: UpstreamCall): number {
  if (!mayWait(operation)) return 0;
  const field = waitField(operation);
  const parsed = field === null ? null : parseInput(operation, input);
  return field !== null && isObject(parsed) ? Number(parsed[field]) : 0;
}

function isUncertain(error: unknown): boolean {
  return error instanceof UpstreamError && error.mayHaveArrived;
}

/** Undefined for invalid JSON. */
function jsonOf(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

function isBusy({ status, text }: UpstreamResponse): boolean {
  return status === 409 && text.includes('"IDEMPOTENCY_IN_PROGRESS"');
}
