import { isUtf8 } from 'node:buffer';
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PAYLOAD_ROW_MAX_BYTES } from '../../shared/lib/limits.ts';
import { signWebhook } from '../../shared/rules/payload/signature.ts';
import type { Verification } from '../../shared/senders/registry.ts';
import { corpus } from './corpus.ts';
import { FuzzedGateway, type Got } from './fuzzed-gateway.ts';
import { HOSTILE_TEXTS, hostileBody, hostileValue, mutated } from './hostile.ts';
import { asJson } from './requests.ts';
import { each, fuzz, unmet, HUNG_MS } from './runs.ts';

const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const KINDS: Verification[] = ['stripe', 'github', 'hmac_sha256', 'standard_webhooks'];
const MEBI = 1024 * 1024;

let gateway: FuzzedGateway;
let deliveries = 0;
const targets = new Map<string, string>();
beforeAll(async () => {
  gateway = await FuzzedGateway.start();
  await addSource('open', { type: 'webhook' });
  await addSource('mail', { type: 'email' });
  for (const verification of KINDS) {
    await addSource(verification, { type: 'webhook', verification, secret: SECRET });
  }
});
afterAll(() => gateway.stop());

async function addSource(name: string, fields: object): Promise<void> {
  const fullName = name.replaceAll('_', '-');
  const source = { name: fullName, ...fields };
  const { url } = await gateway.call<{ url: string }>('POST', '/v1/sources', source);
  targets.set(name, new URL(url).pathname);
}

function deliver(
  source: string,
  body: Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): Promise<Got> {
  const target = targets.get(source) ?? '';
  return gateway.send({ method: 'POST', target, headers, body, key: null });
}

interface Event {
  readonly id: string;
  readonly type: string;
  readonly payload: unknown;
  readonly payload_url: string | null;
  /** Absent for mails. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Takes a body through its whole life (in, listed, waited for, claimed, acked) and returns the faults. */
async function wayFaults(
  body: Buffer,
  headers: Readonly<Record<string, string>>,
  source = 'open',
): Promise<string[]> {
  deliveries += 1;
  // Each is a separate delivery, even with the same body.
  const got = await deliver(source, body, { 'webhook-id': `fuzz-${deliveries}`, ...headers });
  const { status, event_id } = (got.json ?? {}) as { status?: string; event_id?: string };
  if (got.status !== 200) return [`it was answered ${got.status} ${got.bytes.toString()}`];
  if (status === 'duplicate' || !event_id) return [];
  const listed = await gateway.call<{ items: Event[] }>('GET', '/v1/inbox?limit=100');
  const waited = await gateway.call<{ event: Event | null }>(
    'GET',
    '/v1/inbox/wait?timeout_seconds=1',
  );
  const event = await gateway.call<Event>('POST', '/v1/inbox/claim', { event_id });
  await gateway.call('POST', '/v1/inbox/ack', { event_id });
  const faults = unmet({
    'it is listed': listed.items.some(({ id }) => id === event_id),
    'it is waited for': waited.event?.id === event_id,
    'its type can be shown': !/[\p{Cc}\p{Cs}]/u.test(event.type),
    'no secret is in its headers': !JSON.stringify(event.headers ?? {}).includes('hunter2'),
  });
  return source === 'mail' ? faults : [...faults, ...(await payloadFaults(event, body, headers))];
}

/** The faults of the payload made from a body. */
async function payloadFaults(
  { payload, payload_url }: Event,
  body: Buffer,
  headers: Readonly<Record<string, string>>,
): Promise<string[]> {
  const linked = payload_url === null ? body : await download(payload_url);
  const isApart = body.length > PAYLOAD_ROW_MAX_BYTES;
  const says = isApart ? payload === null : isOf(payload, body, headers['content-type'] ?? '');
  return unmet({
    'its bytes are kept': linked.equals(body),
    [`it says what came: ${JSON.stringify(payload)?.slice(0, 300)}`]: says,
  });
}

/** Whether a payload is a body's content, read in one of the allowed ways. */
function isOf(payload: unknown, body: Buffer, type: string): boolean {
  const { text, base64 } = (payload ?? {}) as { text?: unknown; base64?: unknown };
  const named = type.includes('utf-16') ? inUtf16(body) : null;
  if (named !== null) return text === named || isDeepStrictEqual(payload, parsed(named));
  if (!isUtf8(body)) return base64 === body.toString('base64');
  const whole = body.toString('utf8').replace(/^\ufeff/, '');
  if (text === whole || isDeepStrictEqual(payload, parsed(whole))) return true;
  return type.startsWith('application/x-www-form-urlencoded');
}

/** Null if it isn't a text in UTF-16. */
function inUtf16(body: Buffer): string | null {
  try {
    return new TextDecoder('utf-16', { fatal: true }).decode(body);
  } catch {
    return null;
  }
}

async function download(url: string): Promise<Buffer> {
  const { pathname } = new URL(url);
  return (await gateway.send({ method: 'GET', target: pathname, key: null })).bytes;
}

/** A text parsed as JSON; undefined if it isn't JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const JSON_TYPE = { 'content-type': 'application/json' };
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };
const TYPES = [
  '',
  'application/json',
  'application/cloudevents+json',
  'text/plain; charset=utf-16',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary="x"',
  'multipart/form-data',
  'application/octet-stream',
  'text/html',
  '__proto__',
  '; ; ;',
  'x'.repeat(3000),
];
const HEADERS = [
  '__proto__',
  'constructor',
  'x-github-event',
  'x-github-delivery',
  'webhook-id',
  'idempotency-key',
  'x-custom',
  'x-custom-secret',
];

const headerText = fc
  .constantFrom(...HOSTILE_TEXTS)
  .map((text) => text.replace(/[^\t\u0020-\u007e\u0080-\u00ff]/g, '').slice(0, 2000));
const someHeaders = fc
  .tuple(
    fc.dictionary(fc.constantFrom(...HEADERS), headerText, { maxKeys: 3 }),
    fc.constantFrom(...TYPES),
  )
  .map(([headers, type]) => ({ ...headers, 'x-custom-secret': 'hunter2', 'content-type': type }));

const TOKENS = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ',',
  ':',
  '\\u0000',
  '\\ud800',
  '1e999',
  '\xff',
  '\0',
  '&',
];
const anyBody = fc.oneof(
  hostileBody,
  hostileValue.map(asJson),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  fc
    .constantFrom(...[...corpus('json'), ...corpus('form')].map(({ bytes }) => bytes))
    .chain((bytes) => mutated(bytes, TOKENS)),
);

describe('a body that comes in', () => {
  it('of the corpus goes all the way', async () => {
    const faults = [
      ...(await each(corpus('json'), ({ bytes }) => wayFaults(bytes, JSON_TYPE))),
      ...(await each(corpus('form'), ({ bytes }) => wayFaults(bytes, FORM_TYPE))),
      ...(await each(corpus('mail'), ({ bytes }) => wayFaults(bytes, {}, 'mail'))),
    ];
    expect(faults).toEqual([]);
    expect(gateway.isAlive).toBe(true);
  });

  it(
    'of any bytes under any headers goes all the way',
    async () => {
      const sent = fc.tuple(anyBody, someHeaders);
      const fault = await fuzz(sent, 120, async ([body, headers]) => wayFaults(body, headers));
      expect(fault).toBeNull();
    },
    HUNG_MS,
  );

  it(
    'of JSON comes back as it is, NUL and all',
    async () => {
      const values = fc.oneof(hostileValue, fc.jsonValue({ stringUnit: 'binary' }));
      const fault = await fuzz(values, 60, async (value) => {
        const body = asJson({ value, nul: 'a\0b' });
        return wayFaults(body, JSON_TYPE);
      });
      expect(fault).toBeNull();
    },
    HUNG_MS,
  );
});

const BOMBS: { readonly name: string; readonly make: () => Buffer }[] = [
  { name: '5 MB of [', make: () => Buffer.alloc(5 * MEBI, '[') },
  { name: '5 MB of "', make: () => Buffer.alloc(5 * MEBI, '"') },
  { name: '5 MB of backslashes', make: () => Buffer.alloc(5 * MEBI, '"\\\\') },
  { name: '5 MB of digits', make: () => Buffer.alloc(5 * MEBI, '9') },
  { name: '5 MB of &', make: () => Buffer.alloc(5 * MEBI, '&') },
  { name: '5 MB of %', make: () => Buffer.alloc(5 * MEBI, '%41=') },
  { name: 'half a MB of a=&', make: () => Buffer.alloc(MEBI / 2, 'a=&') },
  { name: '250,000 names', make: () => asJson(numbered(250_000)) },
  { name: '60,000 names', make: () => asJson(numbered(60_000)) },
  {
    name: 'numbers near the end of a double',
    make: () => Buffer.from(`[${'1e308,'.repeat(9000)}1]`),
  },
  { name: 'long numbers', make: () => Buffer.from(`[${`${'1'.repeat(190)},`.repeat(20_000)}1]`) },
  { name: '128 levels, often', make: () => Buffer.from(`[${`${deep(127)},`.repeat(1500)}1]`) },
  { name: 'parts of a multipart', make: () => Buffer.from('--x\r\n\r\n\r\n'.repeat(400_000)) },
];

function numbered(count: number): Record<string, number> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`k${index * 7919}`, index]),
  );
}

function deep(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels);
}

describe('a bomb', () => {
  it(
    'of any kind goes all the way, and holds up nobody',
    async () => {
      const types = [
        'application/json',
        'application/x-www-form-urlencoded',
        'multipart/form-data',
      ];
      const faults = await each(BOMBS, async ({ make }) => {
        const body = make();
        const found: string[] = [];
        for (const type of types) {
          const held = await gateway.unheld(async (attempt) => {
            deliveries += 1;
            const got = await deliver('open', body, {
              'content-type': type,
              'webhook-id': `bomb-${deliveries}-${attempt}`,
            });
            if (got.status !== 200) found.push(`${type} was answered ${got.status}`);
          });
          found.push(...held);
        }
        return found;
      });
      expect(faults).toEqual([]);
      const { items } = await gateway.call<{ items: Event[] }>('GET', '/v1/inbox?limit=100');
      for (const { id } of items) {
        await gateway.call('POST', '/v1/inbox/claim', { event_id: id });
        await gateway.call('POST', '/v1/inbox/ack', { event_id: id });
      }
      expect(items.length).toBeGreaterThanOrEqual(BOMBS.length);
    },
    HUNG_MS,
  );
});

const REFUSAL = {
  error: {
    code: 'INGRESS_SIGNATURE_INVALID',
    message: 'The webhook signature is missing or invalid.',
    hint: 'Check the source secret.',
  },
};

/** The faults of a refused signature's answer: it must say just that. */
function refusalFaults({ status, json, bytes }: Got): string[] {
  const isSo = status === 401 && isDeepStrictEqual(json, REFUSAL);
  return isSo ? [] : [`it was answered ${status} ${bytes.toString()}`];
}

describe('a signature', () => {
  it('of the corpus is refused, and nothing more is said', async () => {
    const before = await gateway.head();
    const faults = await each(corpus('signature'), async ({ bytes }) => {
      const { verification, headers } = JSON.parse(bytes.toString()) as {
        verification: string;
        headers: Record<string, string>;
      };
      return refusalFaults(await deliver(verification, Buffer.from('{}'), headers));
    });
    expect(faults).toEqual([]);
    expect(await gateway.head()).toBe(before);
  });

  it(
    'that is genuine is taken once, and refused with a character changed',
    async () => {
      const bodies = fc.tuple(fc.constantFrom(...KINDS), anyBody, fc.nat(300));
      const fault = await fuzz(bodies, 60, async ([verification, body, at]) => {
        deliveries += 1;
        const id = `signed-${deliveries}`;
        const nowMs = Date.now();
        const headers = signWebhook({ verification, secret: SECRET, id, body, nowMs });
        const wrong = Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [
            name,
            name.endsWith('signature') || name.endsWith('256') ? changed(value, at) : value,
          ]),
        );
        const refused = refusalFaults(await deliver(verification, body, wrong));
        const other = Buffer.concat([body, Buffer.from(' ')]);
        const spoiled = refusalFaults(await deliver(verification, other, headers));
        const taken = await deliver(verification, body, headers);
        const again = await deliver(verification, body, headers);
        return [
          ...refused,
          ...spoiled,
          ...unmet({
            [`it is taken: ${taken.bytes.toString()}`]: taken.status === 200,
            'it is taken once': (again.json as { status?: string }).status === 'duplicate',
          }),
        ];
      });
      expect(fault).toBeNull();
    },
    HUNG_MS,
  );
});

/** Every kind of signature ends the header. The very last character of base64 can change without changing the bytes. */
function changed(value: string, at: number): string {
  const place = value.length - 3 - (at % 40);
  return value.slice(0, place) + (value[place] === 'a' ? 'b' : 'a') + value.slice(place + 1);
}
