import { operations } from '../../shared/operations/index.ts';
import type { Operation, RawBody } from '../../shared/kernel/operation.ts';
import { readPage } from '../helpers/reading.ts';

type Json = Record<string, unknown>;

const PATIENCE_MS = 60_000;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
}

interface CallOptions {
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as they are. */
  readonly bytes?: Uint8Array<ArrayBuffer>;
  /** Of what is sent; that of JSON unless given. */
  readonly type?: string;
  /** Null sends none. */
  readonly key?: string | null;
  readonly headers?: Record<string, string>;
  /** Gives the call up. */
  readonly signal?: AbortSignal;
}

/** What an input becomes on its way: a target, and what the body carries. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly carried: Pick<CallOptions, 'body' | 'bytes' | 'type'>;
}

export function operationNamed(name: string): Operation {
  const operation = operations.find((one) => one.name === name);
  if (!operation) throw new Error(`There is no operation ${name}.`);
  return operation;
}

/** The request of an operation for an input, as any client would make it. */
export function requestFor({ rest }: Operation, input: Readonly<Json>): Sent {
  const left: Json = { ...input };
  const path = rest.path.replaceAll(/\{(\w+)\+?\}/g, (_, parameter: string) => {
    const field = rest.params?.[parameter] ?? parameter;
    const value = String(left[field]);
    delete left[field];
    return encodeURIComponent(value);
  });
  const { method } = rest;
  if (method === 'GET' || method === 'DELETE') {
    return { method, path: path + queryOf(left), carried: {} };
  }
  const { query, carried } = bodyFor(rest.body, left);
  return { method, path: path + queryOf(query), carried };
}

/** What the body of a POST or PUT carries, and the fields for which there is no room in it. */
function bodyFor(raw: RawBody | undefined, fields: Json): Pick<Sent, 'carried'> & { query: Json } {
  if (!raw) return { query: {}, carried: { body: fields } };
  const { [raw.field]: whole, ...query } = fields;
  if (raw.as === 'json') return { query, carried: { body: whole ?? null } };
  if (typeof whole !== 'string') {
    return { query: {}, carried: { body: fields, type: raw.objectType ?? '' } };
  }
  const { typeField = '' } = raw;
  const { [typeField]: type, ...rest } = query;
  const bytes = new Uint8Array(Buffer.from(whole, 'base64'));
  return { query: rest, carried: { bytes, type: typeof type === 'string' ? type : '' } };
}

/** The fields as the end of a target; nothing when there are none. */
function queryOf(fields: Json): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one));
  }
  return query.size > 0 ? `?${query.toString()}` : '';
}

/** A project over HTTP, with short ways to bring it into a state. */
export class World {
  /** Where routes of this world lead to. */
  readonly callbackUrl: string;
  /** The folder with the letters of its gateway below it; null where they can't be read. */
  readonly folder: string | null;
  /** Where people's pages are: a copy has none. */
  readonly #pagesUrl: string;
  readonly #url: string;
  readonly #apiKey: string;
  #deliveries = 0;

  constructor(
    server: { readonly url: string; readonly apiKey: string },
    callbackUrl = 'http://127.0.0.1:9/nobody',
    folder: string | null = null,
    pagesUrl = server.url,
  ) {
    this.folder = folder;
    this.#pagesUrl = pagesUrl;
    this.#url = server.url;
    this.#apiKey = server.apiKey;
    this.callbackUrl = callbackUrl;
  }

  async call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const { body, bytes, type = 'application/json', key = this.#apiKey, headers, signal } = options;
    const carried = bytes ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(this.#url + path, {
      method,
      headers: {
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(carried !== undefined && type !== '' && { 'content-type': type }),
        ...headers,
      },
      ...(carried !== undefined && { body: carried }),
      ...(signal && { signal }),
    });
    const { status } = response;
    const text = await response.text();
    // A 304 has no body, which is not the answer `null`.
    const parsed: unknown = text === '' ? undefined : JSON.parse(text);
    return { status, headers: response.headers, body: parsed as Json };
  }

  /** A page as a browser gets it; with a form that somebody read, the answer to that. */
  async page(path: string, form?: URLSearchParams): Promise<Response> {
    if (form) await readPage(this.#pagesUrl);
    const headers = { 'sec-fetch-site': 'same-origin', origin: 'null' };
    return fetch(this.#pagesUrl + path, form ? { method: 'POST', body: form, headers } : {});
  }

  run(name: string, input: Readonly<Json>, options: CallOptions = {}): Promise<Answer> {
    const { method, path, carried } = requestFor(operationNamed(name), input);
    return this.call(method, path, { ...options, ...carried });
  }

  /** The answer of a call that has to succeed. */
  async get(name: string, input: Readonly<Json>, options: CallOptions = {}): Promise<Json> {
    const { status, body } = await this.run(name, input, options);
    if (status >= 300) throw new Error(`${name} answered ${status}: ${JSON.stringify(body)}`);
    return body;
  }

  async newKey(...scopes: string[]): Promise<{ id: string; apiKey: string }> {
    const made = await this.get('key_create', { name: 'test', scopes });
    return { id: String(made['id']), apiKey: String(made['api_key']) };
  }

  async ownKeyId(): Promise<string> {
    const { key } = await this.get('whoami', {});
    return String((key as Json)['id']);
  }

  /** The address of a source that takes anything, made when it is not there. */
  async hook(name = 'open'): Promise<string> {
    const { items } = await this.get('source_list', {});
    const found = (items as Json[]).find((source) => source['name'] === name);
    const source = found ?? (await this.get('source_add', { type: 'webhook', name }));
    return String(source['url']);
  }

  async deliver(url: string, body: string, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await fetch(url, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    });
    const { status } = response;
    return { status, headers: response.headers, body: (await response.json()) as Json };
  }

  /** The id of a fresh pending event. They are alike but for their delivery ids. */
  async event(source?: string): Promise<string> {
    this.#deliveries += 1;
    const delivered = await this.deliver(await this.hook(source), '{"hello":"world"}', {
      'webhook-id': `delivery-${this.#deliveries}`,
    });
    return String(delivered.body['event_id']);
  }

  async claimed(options: CallOptions = {}): Promise<string> {
    const event_id = await this.event();
    await this.get('inbox_claim', { event_id, lease_seconds: 60 }, options);
    return event_id;
  }

  async dead(): Promise<string> {
    const event_id = await this.claimed();
    await this.get('inbox_nack', { event_id, reason: 'no use', retry: false });
    return event_id;
  }

  /** Asks until the answer is as wanted: for what comes a moment later by itself. */
  async until(name: string, input: Readonly<Json>, done: (answer: Json) => boolean): Promise<Json> {
    const endsAt = performance.now() + PATIENCE_MS;
    for (;;) {
      const answer = await this.get(name, input);
      if (done(answer)) return answer;
      if (performance.now() > endsAt) throw new Error(`Never: ${JSON.stringify(answer)}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** The first answer that is no success. */
  async untilRefused(name: string, input: Readonly<Json>): Promise<Answer> {
    for (let call = 0; call < 1000; call += 1) {
      const answer = await this.run(name, input);
      if (answer.status >= 400) return answer;
    }
    throw new Error(`${name} was never refused.`);
  }
}
