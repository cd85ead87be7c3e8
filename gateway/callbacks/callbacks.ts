import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../shared/lib/clock.ts';
import type { CallbackMessage, Callbacks, ServerInfo, Vault } from '../../shared/kernel/context.ts';
import type { AttemptOutcome } from '../../shared/rules/inbox/retry-schedule.ts';
import { CallbackAllow } from './callback-allow.ts';
import { parseCallbackUrl } from './callback-url.ts';
import { Deliveries, type PushingProject } from './deliveries.ts';
import { checkHost } from './guarded-lookup.ts';
import { CallbackSender } from './post.ts';
import { newSigningSecret, signatureHeaders } from './sign.ts';
import { Semaphore } from '../lib/semaphore.ts';

/** Over all destinations of all projects. A delivery with a large body counts as several. */
const SLOTS_MAX = 256;
/** When the service stops, deliveries under way get this long to end. */
const LAST_WAIT_MS = 1000;

export interface CallbackOptions {
  readonly clock: Clock;
  readonly vault: Vault;
  readonly server: ServerInfo;
  /** Private addresses that may be called. */
  readonly allow?: CallbackAllow;
  /** From the start of an attempt to the end of its answer. */
  readonly deadlineMs?: number;
  readonly onError: (projectId: string, error: unknown) => void;
  /** Receives the result of each attempt. */
  readonly onOutcome?: (outcome: AttemptOutcome) => void;
}

/** All calls to outside addresses: the checks of addresses and the deliveries of all projects. */
export class OutboundCallbacks implements Callbacks {
  readonly #options: CallbackOptions;
  readonly #allow: CallbackAllow;
  readonly #sender: CallbackSender;
  readonly #semaphore = new Semaphore(SLOTS_MAX);
  readonly #deliveries = new Set<Deliveries>();

  constructor(options: CallbackOptions) {
    this.#options = options;
    this.#allow = options.allow ?? CallbackAllow.none;
    this.#sender = new CallbackSender({
      allow: this.#allow,
      clock: options.clock,
      // The queues limit the calls to one destination. Projects that call the same one don't wait for each other.
      socketsPerDestination: SLOTS_MAX,
    });
  }

  async check(url: string): Promise<{ destination: string }> {
    const callback = parseCallbackUrl(url, this.#allow);
    await checkHost(callback, this.#allow);
    return { destination: callback.destination };
  }

  newSecret(): string {
    return newSigningSecret();
  }

  async send(message: CallbackMessage): Promise<AttemptOutcome> {
    const { url, secrets, id, body: text, attempt } = message;
    const { clock, server, deadlineMs } = this.#options;
    const body = Buffer.from(text);
    const headers = {
      'content-type': 'application/json',
      'user-agent': `svc/${server.version}`,
      'x-service-attempt': String(attempt),
      ...signatureHeaders({ id, body, nowMs: clock.now(), secrets }),
    };
    const timed = { url, body, headers, ...(deadlineMs && { deadlineMs }) };
    const outcome = await this.#sender.post(timed);
    this.#options.onOutcome?.(outcome);
    return outcome;
  }

  deliveriesOf(project: PushingProject): Deliveries {
    const { clock, vault, server, onError } = this.#options;
    const send = (message: CallbackMessage): Promise<AttemptOutcome> => this.send(message);
    const deliveries = new Deliveries(project, {
      clock,
      vault,
      server,
      semaphore: this.#semaphore,
      send,
      onError,
      onClosed: (closed) => this.#deliveries.delete(closed),
    });
    this.#deliveries.add(deliveries);
    return deliveries;
  }

  /** Starts no more attempts, gives those under way a moment, then ends them; the next start sends them again. */
  async close(): Promise<void> {
    const all = [...this.#deliveries];
    for (const deliveries of all) deliveries.stop();
    const settled = Promise.all(all.map((deliveries) => deliveries.settled()));
    const waiting = new AbortController();
    const late = sleep(LAST_WAIT_MS, undefined, waiting).catch(() => undefined);
    await Promise.race([late, settled]);
    waiting.abort();
    this.#sender.close();
    await settled;
    await Promise.all(all.map((deliveries) => deliveries.close()));
  }
}
