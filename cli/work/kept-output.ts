import { randomUUID } from 'node:crypto';
import { isObject } from '../../shared/lib/guards.ts';
import type { CommandContext } from '../command.ts';
import { CliError } from '../errors.ts';
import { EXIT } from '../exit.ts';
import { RetryingCalls } from '../../clients/typescript/core/retrying-calls.ts';
import { answeredCode, canBeSatOut } from '../../clients/typescript/core/errors.ts';

/** 30 days, as long as an event's payload is kept. */
const KEPT_SECONDS = 2_592_000;

/** A step's output, stored under a key of the disk. */
export class KeptOutput {
  readonly #context: Pick<CommandContext, 'client' | 'output' | 'signal'>;
  readonly #key: string;

  constructor(context: Pick<CommandContext, 'client' | 'output' | 'signal'>, key: string) {
    this.#context = context;
    this.#key = key;
  }

  /** Null if the step hasn't finished yet. */
  async read(): Promise<Buffer | null> {
    const stored = await this.#context.client().call('kv_get', { key: this.#key });
    if (stored === null) return null;
    const bytes = isObject(stored.value) ? bytesOf(stored.value) : null;
    if (bytes !== null) return bytes;
    throw new CliError({
      code: 'NOT_A_STEP',
      message: `The key ${this.#key} holds no output of a step.`,
      hint: `To run the step: svc kv delete ${this.#key}`,
      exit: EXIT.refused,
    });
  }

  /** Stores the output and returns the one that counts: this one, or a faster run's. */
  async keep(output: Buffer): Promise<Buffer> {
    const headers = { 'idempotency-key': randomUUID() };
    const entry = { key: this.#key, value: valueOf(output), ttl_seconds: KEPT_SECONDS };
    const put = () =>
      this.#context.client().call('kv_set', { ...entry, if_version: 0 }, { headers });
    try {
      await this.#sitOut(put);
      return output;
    } catch (error) {
      if (answeredCode(error) === 'PRECONDITION_FAILED') return (await this.read()) ?? output;
      this.#context.output.tell(
        "The command ran, but svc couldn't keep its output: it runs again.",
      );
      throw error;
    }
  }

  /** The step is done, so svc sits out an outage instead of running it twice. */
  async #sitOut(put: () => Promise<unknown>): Promise<void> {
    const { output, signal } = this.#context;
    try {
      await put();
    } catch (error) {
      if (!canBeSatOut(error)) throw error;
      const trouble = (text: string): void => output.note(text);
      if ((await new RetryingCalls({ signal, trouble }).answer(put)) === null) throw error;
    }
  }
}

/** Stored as text if possible, so that `svc kv get` shows it. */
function valueOf(output: Buffer): Readonly<Record<string, string>> {
  const text = output.toString('utf8');
  const isText = Buffer.from(text).equals(output) && !text.includes('\0');
  return isText ? { text } : { base64: output.toString('base64') };
}

function bytesOf({ text, base64 }: Readonly<Record<string, unknown>>): Buffer | null {
  if (typeof text === 'string') return Buffer.from(text);
  return typeof base64 === 'string' ? Buffer.from(base64, 'base64') : null;
}
