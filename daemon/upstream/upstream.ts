import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { errors, Pool } from 'undici';
import { requestOf, type RestRequest } from './rest-request.ts';
import { wholeOf } from '../../shared/lib/bytes.ts';
import type { Caller } from '../../shared/kernel/context.ts';
import type { ServiceError } from '../../shared/lib/errors.ts';
import { parseExact } from '../../shared/lib/exact-json.ts';
import type { Answer, Credentials } from '../../shared/kernel/executor.ts';
import { mayWait, parseInput, type Operation } from '../../shared/kernel/operation.ts';
import { isObject } from '../../shared/lib/guards.ts';
import { relayedError } from './relayed-error.ts';
import { isBroken, isUnsent, reasonOf, UpstreamFailed } from './upstream-failed.ts';

const CONNECT_MS = 5_000;
const ANSWER_MS = 30_000;
/** Far above the largest real answer: a 1 MB file as base64, or a list with a hundred payloads. */
const ANSWER_MAX_BYTES = 16 * 1024 * 1024;
/** How long a wait may stay silent beyond its own timeout. */
const WAIT_MARGIN_MS = 10_000;
/** How long an unused connection stays open; the gateway can shorten it. */
const KEEP_ALIVE_MS = 30_000;
const CONNECTIONS_MAX = 256;
const RETRY_PAUSE_MS = 100;
/** Pauses before repeats while the first try still runs at the gateway: transactions are short. */
const BUSY_PAUSES_MS: readonly number[] = [50, 100, 200, 400, 800, 1600];

/** A call and its caller. */
export interface UpstreamCall {
  readonly operation: Operation;
  /** The caller's raw input; the gateway parses it. */
  readonly input: unknown;
  readonly caller: Pick<Caller, 'agent' | 'idempotencyKey'>;
  /** The caller's own credentials, passed on unchanged. */
  readonly credentials: Credentials;
  readonly signal: AbortSignal;
  /** Milliseconds until the answer must begin; set if the replica can answer after that. */
  readonly timeoutMs?: number;
}

interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Calls a gateway over HTTP with the callers' own keys. */
export class Upstream {
  readonly #base: URL;
  readonly #pool: Pool;
  readonly #answerMs: number;

  /**
   * `gateway` is the base address; its path precedes every route. `answerMs` limits an answer from its first byte on
   * (default 30 s; tests change it).
   */
  constructor(gateway: URL, answerMs = ANSWER_MS) {
    this.#base = gateway;
    this.#answerMs = answerMs;
    this.#pool = new Pool(gateway.origin, {
      connections: CONNECTIONS_MAX,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connect: { timeout: CONNECT_MS },
      maxResponseSize: ANSWER_MAX_BYTES,
    });
  }

  /** Scheme and host, for people. */
  get origin(): string {
    return this.#base.origin;
  }

  /**
   * The gateway's answer. Throws the gateway's own error, or `UpstreamFailed` if there was no answer. Retries once
   * after a broken connection; the Idempotency-Key makes that safe for writes.
   */
  async call(call: UpstreamCall): Promise<Answer> {
    const request = requestOf(call.operation, call.input);
    const headers = { ...headersOf(call), ...request.headers };
    const received = await this.#tried(call, { ...request, headers });
    const { status, headers: answered, text } = received;
    const value = status >= 200 && status < 300 ? jsonOf(text) : undefined;
    // A portal or proxy in between may answer with anything.
    if (value === undefined) throw this.#refusal(received, call);
    const position = Number(answered['x-service-position']);
    return {
      value,
      ...(Number.isSafeInteger(position) && { position }),
    };
  }

  /** Aborts pending calls. */
  close(): Promise<void> {
    return this.#pool.destroy();
  }

  async #tried(call: UpstreamCall, request: RestRequest): Promise<Received> {
    try {
      return await this.#send(call, request);
    } catch (error) {
      call.signal.throwIfAborted();
      if (!isBroken(error)) throw this.#failed(error, call, !isUnsent(error));
      await sleep(RETRY_PAUSE_MS, undefined, { signal: call.signal });
      return this.#again(call, request, !isUnsent(error));
    }
  }

  /** The second try; the first one may still be running at the gateway. */
  async #again(call: UpstreamCall, request: RestRequest, wasSent: boolean): Promise<Received> {
    try {
      for (const pauseMs of BUSY_PAUSES_MS) {
        const received = await this.#send(call, request);
        if (!isBusy(received)) return received;
        await sleep(pauseMs, undefined, { signal: call.signal });
      }
      return await this.#send(call, request);
    } catch (error) {
      call.signal.throwIfAborted();
      throw this.#failed(error, call, wasSent || !isUnsent(error));
    }
  }

  async #send(
    call: UpstreamCall,
    { method, target, headers, body }: RestRequest,
  ): Promise<Received> {
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
    try {
      const answer = await this.#pool.request({
        method,
        path: this.#base.pathname.replace(/\/+$/, '') + target,
        headers,
        body: body === null || typeof body === 'string' ? body : wholeOf(body),
        headersTimeout: timeoutMs,
        bodyTimeout: ANSWER_MS,
        // A short call runs to its end even if its client leaves; only a wait stops.
        signal: mayWait(call.operation) ? AbortSignal.any([call.signal, late.signal]) : late.signal,
      });
      clearTimeout(early ?? undefined);
      return {
        status: answer.statusCode,
        headers: answer.headers,
        text: await answer.body.text(),
      };
    } finally {
      clearTimeout(early ?? undefined);
      clearTimeout(timer);
    }
  }

  #refusal(received: Received, call: UpstreamCall): ServiceError {
    const error = relayedError(received);
    if (error) return error;
    const reason = `something in front of it answered ${received.status}`;
    return this.#failure(reason, call, true);
  }

  #failed(error: unknown, call: UpstreamCall, mayHaveArrived: boolean): ServiceError {
    return this.#failure(reasonOf(error), call, mayHaveArrived);
  }

  #failure(reason: string, call: UpstreamCall, mayHaveArrived: boolean): UpstreamFailed {
    const advice = adviceFor(call, mayHaveArrived);
    return new UpstreamFailed({ gateway: this.origin, reason, mayHaveArrived, advice });
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
function silenceMs({ operation, input, timeoutMs }: UpstreamCall): number {
  if (!mayWait(operation)) return timeoutMs ?? ANSWER_MS;
  const parsed = parseInput(operation, input);
  const fields = isObject(parsed) ? parsed : {};
  const seconds = Number(fields['timeout_seconds'] ?? fields['wait_seconds'] ?? 0);
  return Math.max(ANSWER_MS, seconds * 1000 + WAIT_MARGIN_MS);
}

/** Undefined for invalid JSON. */
function jsonOf(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

function isBusy({ status, text }: Received): boolean {
  return status === 409 && text.includes('"IDEMPOTENCY_IN_PROGRESS"');
}
