import type { IncomingMessage } from 'node:http';
import { lowerCased } from '../../clients/typescript/call/http-caller.ts';
import { answeredFailure, DETOURS, failedForNow } from '../../clients/typescript/core/errors.ts';
import { isRead, operationCalls, type CallOptions, type Client } from '../call/client.ts';
import { CallError } from '../errors.ts';
import type { Tries } from './tries.ts';

/** How long a retry waits for an answer, unless the call sets its own timeout. */
const SILENCE_MS = { least: 5000, most: 30_000 };

/** The client of a command that writes: it retries calls and sends the command's idempotency key. */
export class PersistentClient implements Client {
  readonly call = operationCalls(this);
  readonly #client: () => Client;
  readonly #tries: Tries;

  /** `client` is called on first use. */
  constructor(client: () => Client, tries: Tries) {
    this.#client = client;
    this.#tries = tries;
  }

  get apiKey(): string {
    return this.#client().apiKey;
  }

  get gateway(): URL | null {
    return this.#client().gateway;
  }

  send(method: string, path: string, options: CallOptions = {}): Promise<unknown> {
    if (options.isOptional) return this.#client().send(method, path, options);
    return this.#tried(method, options, (tried) => this.#client().send(method, path, tried));
  }

  async raw(method: string, path: string, options: CallOptions = {}): Promise<IncomingMessage> {
    let refused: IncomingMessage | undefined;
    let refusal: CallError | null = null;
    try {
      return await this.#tried(method, options, async (tried) => {
        refused?.destroy();
        refused = await this.#client().raw(method, path, tried);
        refusal = refusalOf(refused);
        if (refusal) throw refusal;
        return refused;
      });
    } catch (error) {
      // The last refusal is the answer.
      if (refused && error === refusal) return refused;
      throw error;
    }
  }

  async #tried<T>(
    method: string,
    options: CallOptions,
    send: (options: CallOptions) => Promise<T>,
  ): Promise<T> {
    const keyed = isRead(method) ? options : await withKey(options, this.#tries.key);
    const work = (leftMs: number | null): Promise<T> => send(inTime(keyed, leftMs));
    return isRead(method) ? this.#tries.run(work) : this.#tries.write(work);
  }
}

/** Each of several writes gets its own key, derived from the command's key and the step's name. */
async function withKey(options: CallOptions, key: string): Promise<CallOptions> {
  const { step } = options;
  const headers = lowerCased(options.headers);
  if (headers['idempotency-key'] !== undefined) return options;
  const own = step === undefined ? key : await digestOf(`${key}\n${step}`);
  return { ...options, headers: { ...headers, 'idempotency-key': own } };
}

async function digestOf(text: string): Promise<string> {
  const { createHash } = await import('node:crypto');
  return createHash('sha256').update(text).digest('base64url');
}

function inTime(options: CallOptions, leftMs: number | null): CallOptions {
  if (leftMs === null || options.timeoutMs !== undefined) return options;
  return { ...options, timeoutMs: Math.min(Math.max(leftMs, SILENCE_MS.least), SILENCE_MS.most) };
}

/** The error if the status and headers say to try again later, without reading the body; otherwise null. */
function refusalOf({ statusCode: status = 0, headers }: IncomingMessage): CallError | null {
  const isOurs = headers['x-service-version'] !== undefined;
  // From svc itself, these are a fault that would come back, and the way to a file in a bucket.
  if (isOurs && (status === 500 || DETOURS.has(status))) return null;
  const asked = headers['retry-after'] ?? null;
  const failure = answeredFailure(status, undefined, null, asked);
  // A 409 says so only if the first call is still running.
  const isRunning = status === 409 && asked !== null;
  const error = new CallError(
    isRunning ? { ...failure, code: 'IDEMPOTENCY_IN_PROGRESS' } : failure,
  );
  return failedForNow(error) ? error : null;
}
