import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { signWebhook } from '../../../shared/rules/payload/signature.ts';
import { mailsOf } from '../../helpers/outbox.ts';
import { visit } from '../../helpers/page-visitor.ts';
import { parsedMail } from '../../gateway/mail/parsed-mail.ts';
import type { EventState, Fact } from './facts.ts';
import { mark } from './shim.ts';
import type { Running } from './shimmed-daemon.ts';

const SECRET = `whsec_${Buffer.from('a secret of power cuts, 32 bytes').toString('base64')}`;
const UPLOAD_TYPE = 'application/vnd.service.upload+json';
const PLAIN_TYPE = 'application/octet-stream';
const LETTER_WITHIN_MS = 60_000;

type Json = Record<string, unknown>;

/** The daemon did not do it, or nobody knows; status 0 where no whole answer came. */
export class NotDone extends Error {
  readonly status: number;

  constructor(what: string, status: number, text: string) {
    super(`${what}: ${status} ${text.slice(0, 300)}`);
    this.name = 'NotDone';
    this.status = status;
  }
}

/** Calls a daemon, and marks each call and each acknowledgement in its disk's log. */
export class Driver {
  readonly #running: Running;
  readonly #dataFolder: string;
  readonly #log: string;

  constructor(running: Running, dataFolder: string, log: string) {
    this.#running = running;
    this.#dataFolder = dataFolder;
    this.#log = log;
  }

  sent(fact: Fact): void {
    mark(this.#log, JSON.stringify({ phase: 'sent', fact }));
  }

  done(fact: Fact): void {
    mark(this.#log, JSON.stringify({ phase: 'done', fact }));
  }

  /** A source that checks signatures. Answers the path of its address. */
  async addSource(name: string): Promise<string> {
    const known = (await this.call('GET', '/v1/sources'))['items'] as Json[];
    const source = { type: 'webhook', name, verification: 'standard_webhooks', secret: SECRET };
    const found = known.find((one) => one['name'] === name);
    const { url } = found ?? (await this.call('POST', '/v1/sources', source));
    const path = new URL(String(url)).pathname;
    this.done({ kind: 'source', name, path });
    return path;
  }

  async addRoute(callback_url: string, match_source: string): Promise<void> {
    const known = (await this.call('GET', '/v1/routes'))['items'] as Json[];
    if (known.length > 0) return;
    await this.call('POST', '/v1/routes', { callback_url, match_source });
  }

  /** As a replica does: from now on the logs of the database are kept. */
  async follow(): Promise<void> {
    await this.call('GET', '/v1/replica');
  }

  /** Delivers `bytes` bytes; returns the event's id. */
  async deliver(source: string, path: string, id: string, bytes: number): Promise<string> {
    const body = bodyOf(id, bytes);
    const digest = sha256(body);
    const fact = { kind: 'delivery', source, id, digest, bytes: body.length } as const;
    this.sent({ ...fact, event: null });
    const { event_id } = await deliver(this.#running.base + path, id, body);
    this.done({ ...fact, event: event_id });
    if (source !== 'routed') this.done({ kind: 'event', event: event_id, state: 'pending' });
    return event_id;
  }

  async claim(event: string): Promise<string> {
    const body = { event_id: event, lease_seconds: 3600 };
    const { lease_id } = await this.#move(event, 'claimed', '/v1/inbox/claim', body);
    return String(lease_id);
  }

  async finish(event: string, state: 'done' | 'failed' | 'dead', lease_id?: string): Promise<void> {
    const held = { event_id: event, ...(lease_id !== undefined && { lease_id }) };
    const nack = { ...held, reason: 'because', retry: state === 'failed' };
    if (state === 'done') await this.#move(event, state, '/v1/inbox/ack', held);
    else await this.#move(event, state, '/v1/inbox/nack', nack);
  }

  async #move(event: string, state: EventState, path: string, body: object): Promise<Json> {
    this.sent({ kind: 'event', event, state });
    // The same call again is the same call.
    const answer = await this.call('POST', path, body, `${event}-${state}`);
    this.done({ kind: 'event', event, state });
    return answer;
  }

  /** The name may be `state/…`, which is another operation. */
  async putValue(name: string, value: string): Promise<void> {
    const isState = name.startsWith('state/');
    this.sent({ kind: 'kv', name, value });
    if (isState) await this.call('PUT', `/v1/${name}`, { state: value, note: 'halfway' });
    else await this.call('PUT', `/v1/kv/${encodeURIComponent(name)}`, value);
    this.done({ kind: 'kv', name, value });
  }

  /** Uses an upload if it's too large for one call. */
  async putFile(name: string, bytes: Buffer<ArrayBuffer>): Promise<void> {
    const value = sha256(bytes);
    this.sent({ kind: 'file', name, value });
    if (bytes.length <= 1024 * 1024) await this.#put(`/v1/files/${name}`, bytes, PLAIN_TYPE);
    else await this.#upload(name, bytes);
    this.done({ kind: 'file', name, value });
  }

  async deleteFile(name: string): Promise<void> {
    this.sent({ kind: 'file', name, value: null });
    await this.call('DELETE', `/v1/files/${name}`);
    this.done({ kind: 'file', name, value: null });
  }

  async #upload(name: string, bytes: Buffer<ArrayBuffer>): Promise<void> {
    const wanted = JSON.stringify({ upload: { size: bytes.length, content_type: PLAIN_TYPE } });
    const opened = await this.#put(`/v1/files/${name}`, wanted, UPLOAD_TYPE);
    await this.#put(String(opened['upload_url']), bytes, PLAIN_TYPE);
    const complete = JSON.stringify({ complete: opened['upload_id'] });
    await this.#put(`/v1/files/${name}`, complete, UPLOAD_TYPE);
  }

  /** Returns the request's id. With the same `key` it stays the same request. */
  async ask(action: string, key: string): Promise<string> {
    const body = { action, summary: `May I? ${key}`, wait_seconds: 0 };
    const { request_id } = await this.call('POST', '/v1/requests', body, key);
    this.done({ kind: 'request', name: String(request_id), value: 'pending' });
    return String(request_id);
  }

  /** Asks about a claimed event and parks it; answers the request's id. */
  async park(event: string, lease_id: string): Promise<string> {
    const question = { action: 'merge', summary: `May I? ${event}`, wait_seconds: 0 };
    const body = { ...question, bind: { event }, event_id: event, lease_id, park: true };
    this.sent({ kind: 'event', event, state: 'waiting' });
    const { request_id } = await this.call('POST', '/v1/requests', body, `${event}-park`);
    this.done({ kind: 'event', event, state: 'waiting' });
    this.done({ kind: 'request', name: String(request_id), value: 'pending' });
    return String(request_id);
  }

  /** Approves what an event waits for, claims it again and finishes it. */
  async resume(event: string, request: string): Promise<void> {
    this.sent({ kind: 'event', event, state: 'pending' });
    await this.approve(request, event);
    this.done({ kind: 'event', event, state: 'pending' });
    const body = { event_id: event, lease_seconds: 3600 };
    this.sent({ kind: 'event', event, state: 'claimed' });
    const claimed = await this.call('POST', '/v1/inbox/claim', body, `${event}-resumed`);
    this.done({ kind: 'event', event, state: 'claimed' });
    const { because } = (claimed['resumed'] ?? {}) as Json;
    if (because !== request) throw new Error(`${event} was woken by ${String(because)}.`);
    await this.finish(event, 'done', String(claimed['lease_id']));
  }

  /** As the owner does, with the link of the letter. */
  async approve(request: string, words: string): Promise<void> {
    const { status } = await this.call('GET', `/v1/requests/${request}`);
    this.sent({ kind: 'request', name: request, value: 'approved' });
    if (status === 'pending') await this.#decide(await this.#linkIn(words));
    this.done({ kind: 'request', name: request, value: 'approved' });
  }

  async #decide(link: string): Promise<void> {
    const page = await visit(link, { button: 'Approve' }).catch((error: unknown) => {
      throw new NotDone('decide', 0, String(error));
    });
    if (!/approved/i.test(page)) throw new NotDone('decide', 200, page);
  }

  async allowMail(): Promise<void> {
    const { rules } = await this.call('GET', '/v1/policy');
    if ((rules as Json[]).length > 0) return;
    const policy = { rules: [{ effect: 'allow', tool: 'email_send' }] };
    const body = { policy, wait_seconds: 0, note: 'The mail of power cuts.' };
    const { request_id } = await this.call('PUT', '/v1/policy', body, 'allow-mail');
    this.done({ kind: 'request', name: String(request_id), value: 'pending' });
    await this.approve(String(request_id), 'The mail of power cuts.');
  }

  async sendMail(subject: string): Promise<void> {
    const mail = { to: ['ana@example.com'], subject, text: subject, reply_to_inbox: false };
    const { batch_id } = await this.call('POST', '/v1/emails', mail, subject);
    this.done({ kind: 'mail', batch: String(batch_id) });
  }

  async call(
    method: string,
    path: string,
    body?: unknown,
    key: string = randomUUID(),
  ): Promise<Json> {
    const headers = {
      authorization: `Bearer ${this.#running.key}`,
      ...(method !== 'GET' && { 'idempotency-key': key }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    return answerOf(`${method} ${path}`, this.#running.base + path, init);
  }

  #put(target: string, body: string | Buffer<ArrayBuffer>, type: string): Promise<Json> {
    const url = target.startsWith('http') ? target : this.#running.base + target;
    const headers = { authorization: `Bearer ${this.#running.key}`, 'content-type': type };
    return answerOf('PUT', url, { method: 'PUT', headers, body });
  }

  /** Links name the address of the daemon that wrote them, which may have had another port. */
  async #linkIn(words: string): Promise<string> {
    for (const endsAt = performance.now() + LETTER_WITHIN_MS; performance.now() < endsAt;) {
      const texts = mailsOf(this.#dataFolder).map((mail) => parsedMail(mail).text);
      const text = texts.findLast((one) => one.includes(words)) ?? '';
      const path = /\/a\/[0-9a-zA-Z]{32,40}/.exec(text)?.[0];
      if (path !== undefined) return this.#running.base + path;
      await sleep(10);
    }
    throw new NotDone('letter', 0, words);
  }
}

/** A delivery's body: JSON of about `bytes` bytes. */
export function bodyOf(id: string, bytes: number): Buffer<ArrayBuffer> {
  return Buffer.from(JSON.stringify({ id, fill: id.padEnd(bytes, 'x') }));
}

/** Throws NotDone for all but a success. */
export async function deliver(
  url: string,
  id: string,
  body: Buffer<ArrayBuffer>,
): Promise<{ status: string; event_id: string }> {
  const verification = 'standard_webhooks';
  const headers = signWebhook({ verification, secret: SECRET, id, body, nowMs: Date.now() });
  const init = { method: 'POST', body, headers };
  return (await answerOf('deliver', url, init)) as unknown as { status: string; event_id: string };
}

async function answerOf(what: string, url: string, init: RequestInit): Promise<Json> {
  let status = 0;
  let text = '';
  try {
    const response = await fetch(url, init);
    text = await response.text();
    ({ status } = response);
  } catch (error) {
    throw new NotDone(what, 0, String(error));
  }
  if (status >= 300) throw new NotDone(what, status, text);
  return JSON.parse(text) as Json;
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
