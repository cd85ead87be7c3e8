import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { signWebhook } from '../../shared/rules/payload/signature.ts';
import type { TeamProject } from './team.ts';

const SECRET = `whsec_${Buffer.from('a secret of the drill, 32 bytes.').toString('base64')}`;
const LEASE_SECONDS = 30;
/** A worker claims one in this many events and dies. */
const ABANDON_EVERY = 12;
const SEND_PAUSE_MS = 90;
const AGAIN_MS = 150;
/** Longer than any recovery takes: anything unfinished by then hangs. */
const PATIENCE_MS = 120_000;

type Json = Record<string, unknown>;

interface Answer {
  readonly status: number;
  readonly body: Json;
  readonly code: string | null;
}

/** What one project is asked to do while gateways die: webhooks, workers, a route and approvals. */
export class DrillLoad {
  /** The events of deliveries that were acknowledged, by the id of the provider. */
  readonly accepted = new Map<string, string>();
  /** When events were acknowledged as done, in milliseconds of a steady clock, by their ids. */
  readonly acked = new Map<string, number>();
  /** Requests that nobody will decide. */
  readonly asked = new Set<string>();
  /** Answers that no caller should get. */
  readonly wrong: string[] = [];
  /** When calls were answered 503. */
  readonly refusedAt: number[] = [];
  readonly #base: string;
  readonly #apiKey: string;
  readonly #hooks = new Map<string, string>();
  readonly #senders: Promise<void>[] = [];
  readonly #workers: Promise<void>[] = [];
  #isSending = true;
  #isWorking = true;
  #count = 0;

  constructor(base: string, { apiKey }: TeamProject) {
    this.#base = base;
    this.#apiKey = apiKey;
  }

  /** Everything the load needs: sources that check signatures, and a route for one of them. */
  async prepare(receiverUrl: string): Promise<void> {
    for (const name of ['work', 'routed']) {
      const source = { type: 'webhook', name, verification: 'standard_webhooks', secret: SECRET };
      const { body } = await this.call('POST', '/v1/sources', source);
      this.#hooks.set(name, new URL(String(body['url'])).pathname);
    }
    const route = { callback_url: receiverUrl, match_source: 'routed' };
    await this.call('POST', '/v1/routes', route);
  }

  begin(): void {
    for (const source of ['work', 'routed']) this.#senders.push(this.#send(source));
    this.#senders.push(this.#ask());
    for (let n = 0; n < 3; n += 1) this.#workers.push(this.#work());
  }

  /** Resolves when everything that was begun to be sent is acknowledged. */
  async endSending(): Promise<void> {
    this.#isSending = false;
    await Promise.all(this.#senders);
  }

  async endWork(): Promise<void> {
    this.#isWorking = false;
    await Promise.all(this.#workers);
  }

  /** A call with its own Idempotency-Key, repeated until it is answered by something else than trouble. */
  async call(method: string, path: string, body?: object): Promise<Answer> {
    const headers = {
      authorization: `Bearer ${this.#apiKey}`,
      ...(body && { 'content-type': 'application/json', 'idempotency-key': randomUUID() }),
    };
    return this.#untilAnswered(path, () => ({
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    }));
  }

  /** All items of a list. */
  async all(path: string): Promise<Json[]> {
    const items: Json[] = [];
    for (let cursor = ''; ;) {
      const { body } = await this.call('GET', path + cursor);
      items.push(...(body['items'] as Json[]));
      if (body['next_cursor'] === null) return items;
      cursor = `&cursor=${body['next_cursor'] as string}`;
    }
  }

  /** The ids of the events of its sources that are in this state. */
  async eventsOf(status: string): Promise<string[]> {
    const ids: string[] = [];
    for (const source of this.#hooks.keys()) {
      const items = await this.all(`/v1/inbox?source=${source}&status=${status}&limit=100`);
      ids.push(...items.map(({ id }) => String(id)));
    }
    return ids;
  }

  async #untilAnswered(path: string, init: () => RequestInit): Promise<Answer> {
    const endsAt = performance.now() + PATIENCE_MS;
    for (;;) {
      const { status, text } = await once(this.#base + path, init());
      if (status > 0 && status < 500) {
        const body = JSON.parse(text) as Json & { readonly error?: { readonly code: string } };
        return { status, body, code: body.error?.code ?? null };
      }
      if (status === 503) this.refusedAt.push(performance.now());
      else if (status > 0) this.wrong.push(`${path}: ${status} ${text}`);
      if (performance.now() > endsAt) throw new Error(`${path} was not answered in time.`);
      await sleep(AGAIN_MS);
    }
  }

  /** Repeats the delivery, with a new signature, until it's acknowledged, as providers do. */
  async #send(source: string): Promise<void> {
    while (this.#isSending) {
      this.#count += 1;
      const id = `${source}-${this.#count}-${randomUUID()}`;
      // Some are large enough for a file of their own.
      const fill = this.#count % 25 === 0 ? 'x'.repeat(300 * 1024) : '';
      const body = Buffer.from(JSON.stringify({ id, fill }));
      const verification = 'standard_webhooks';
      const hook = this.#hooks.get(source) ?? '';
      const { status, body: answer } = await this.#untilAnswered(hook, () => ({
        method: 'POST',
        body,
        headers: signWebhook({ verification, secret: SECRET, id, body, nowMs: Date.now() }),
      }));
      if (status === 200) this.accepted.set(id, String(answer['event_id']));
      else this.wrong.push(`${hook}: ${status} ${JSON.stringify(answer)}`);
      await sleep(SEND_PAUSE_MS);
    }
  }

  async #ask(): Promise<void> {
    while (this.#isSending) {
      const question = { action: 'drill', summary: 'Nobody answers.', expires_in: '1m' };
      const asked = await this.call('POST', '/v1/requests', { ...question, wait_seconds: 0 });
      if (asked.status < 300) this.asked.add(String(asked.body['request_id']));
      else if (asked.code !== 'TOO_MANY_PENDING_REQUESTS') this.#note('/v1/requests', asked);
      await sleep(2500);
    }
  }

  async #work(): Promise<void> {
    let n = 0;
    while (this.#isWorking) {
      const waited = await this.call('GET', '/v1/inbox/wait?source=work&timeout_seconds=20');
      const event = waited.body['event'] as Json | null | undefined;
      if (event === undefined) this.#note('/v1/inbox/wait', waited);
      if (!event) continue;
      n += 1;
      await this.#workOn(String(event['id']), n % ABANDON_EVERY === 0);
    }
  }

  async #workOn(event_id: string, dies: boolean): Promise<void> {
    const claim = { event_id, lease_seconds: LEASE_SECONDS };
    const claimed = await this.call('POST', '/v1/inbox/claim', claim);
    // Another worker was quicker.
    if (claimed.code === 'EVENT_NOT_CLAIMABLE') return;
    if (claimed.status !== 200) return this.#note('/v1/inbox/claim', claimed);
    if (dies) return;
    const lease_id = claimed.body['lease_id'];
    const done = await this.call('POST', '/v1/inbox/ack', { event_id, lease_id });
    if (done.status === 200) this.acked.set(event_id, performance.now());
    else if (done.code !== 'LEASE_EXPIRED' && done.code !== 'LEASE_NOT_HELD')
      this.#note('/v1/inbox/ack', done);
  }

  #note(path: string, { status, body }: Answer): void {
    this.wrong.push(`${path}: ${status} ${JSON.stringify(body)}`);
  }
}

/** Status 0 where no whole answer came. */
async function once(url: string, init: RequestInit): Promise<{ status: number; text: string }> {
  try {
    const response = await fetch(url, init);
    return { status: response.status, text: await response.text() };
  } catch {
    return { status: 0, text: '' };
  }
}
