import { createHmac } from 'node:crypto';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../../cli/run.ts';
import { TextSink } from '../../cli/fake-output.ts';
import { TestGateway } from '../../helpers/gateway.ts';
import { ReplicaDaemon } from '../../helpers/replica-daemon.ts';
import { LOOPBACK, Receiver, until } from '../callbacks/callback-receiver.ts';
import { Routes } from '../../shared/operations/route/routes.ts';

const SECRET = 'a secret of a webhook';

let gateway: TestGateway;
let member: ReplicaDaemon;
let receiver: Receiver;
let hook: string;
beforeAll(async () => {
  gateway = await TestGateway.start({ callbackAllow: LOOPBACK });
  member = await ReplicaDaemon.start(gateway.url, gateway);
  receiver = await Receiver.start();
  const verification = { verification: 'hmac_sha256', secret: SECRET };
  hook = await gateway.addSource({ name: 'shop', ...verification });
  await new Routes(gateway).add(receiver.url(), { match_source: 'pushed' });
  await member.until('local');
});
afterAll(async () => {
  await receiver.stop();
  await member.stop();
  await gateway.stop();
});

/** Numbers that a double would change, or write in another way. */
const number = fc.oneof(
  fc.bigInt({ min: 2n ** 53n, max: 10n ** 30n }).map((whole) => `${whole}`),
  fc.bigInt({ min: -(10n ** 30n), max: -(2n ** 53n) }).map((whole) => `${whole}`),
  fc
    .tuple(fc.nat(), fc.bigInt({ min: 10n ** 17n, max: 10n ** 18n - 1n }))
    .map((both) => both.join('.')),
  fc.nat().map((whole) => `${whole}.10`),
  fc.nat(300).map((exponent) => `1e${exponent}`),
  fc.constantFrom('-0', '1.0', '0.0000001', '1E+5'),
);
/** A value that is one, or has some in it. */
const value = fc.oneof(
  number,
  fc
    .tuple(number, fc.array(number, { minLength: 9, maxLength: 9 }))
    .map(([a, list]) => `{"id":${a},"list":[1,${list.join()},"1.10"],"text":"\\"${a}"}`),
);

interface Sent {
  readonly url?: string;
  readonly headers?: Record<string, string>;
}

/** A request with a body as it is written. */
function request(method: string, path: string, body: string | null, given: Sent = {}) {
  const { url = gateway.url, headers = {} } = given;
  const type = body === null ? {} : { 'content-type': 'application/json' };
  const authorization = `Bearer ${gateway.apiKey}`;
  return fetch(url + path, { method, headers: { authorization, ...type, ...headers }, body });
}

/** The text of the answer to it. */
async function send(...args: Parameters<typeof request>): Promise<string> {
  const response = await request(...args);
  const text = await response.text();
  expect([response.status, text]).toEqual([200, text]);
  return text;
}

/** The answer of an MCP request, its parameters as they are written. */
function mcp(method: string, params: string, url?: string): Promise<string> {
  const body = `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`;
  return send('POST', '/mcp', body, {
    ...(url !== undefined && { url }),
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-06-18',
    },
  });
}

function tool(name: string, args: string, url?: string): Promise<string> {
  return mcp('tools/call', `{"name":"${name}","arguments":${args}}`, url);
}

/** The words of a model, out of the answer of a tool. */
function textOf(answer: string): string {
  const { result } = JSON.parse(answer) as { result: { content: { text: string }[] } };
  return result.content[0]?.text ?? '';
}

async function svc(...argv: string[]): Promise<string> {
  const [stdout, stderr] = [new TextSink(), new TextSink()];
  const env = { ...process.env, SVC_GATEWAY: gateway.url, SVC_API_KEY: gateway.apiKey };
  const { signal } = new AbortController();
  const code = await run(argv, { env, stdout, stderr, signal });
  expect([code, stderr.text]).toEqual([0, '']);
  return stdout.text;
}

/** Posts a webhook as its sender signs it, and returns the id of the event. */
async function deliver(body: string, url = hook): Promise<string> {
  const headers = { 'x-signature': signatureOf(body), 'content-type': 'application/json' };
  const { body: answer } = await gateway.deliver(url, body, headers);
  return String(answer['event_id']);
}

function signatureOf(text: string): string {
  return createHmac('sha256', SECRET).update(text).digest('hex');
}

/** The payload as it is written in an answer. */
function payloadIn(text: string): string {
  return /"payload":(.*?),"payload_url":/s.exec(text)?.[1] ?? '';
}

let count = 0;
/** A body that was not sent before. */
function fresh(text: string): string {
  count += 1;
  return `{"n":${count},"value":${text}}`;
}

async function everyValue(check: (text: string) => Promise<void>, numRuns = 5): Promise<void> {
  await fc.assert(fc.asyncProperty(value, check), {
    numRuns,
    examples: [['1234567890123456789'], ['{"price":1.10,"id":12345678901234567890}']],
  });
}

describe('a number that a double would change stays as it was written', () => {
  it('in a value, over REST, MCP, the command and the copy of a member', async () => {
    await everyValue(async (text) => {
      const wanted = `"value":${text},"expires_at"`;
      const size = `"size_bytes":${Buffer.byteLength(text)}`;
      expect(await send('PUT', '/v1/kv/a', text)).toContain(size);
      expect(await send('GET', '/v1/kv/a', null)).toContain(wanted);
      expect(await tool('kv_set', `{"key":"b","value":${text}}`, member.url)).toContain(size);
      for (const url of [gateway.url, member.url]) {
        const answer = await tool('kv_get', '{"key":"b"}', url);
        expect(answer).toContain(`"structuredContent":{"key":"b",${wanted}`);
        expect(textOf(answer)).toContain(wanted);
      }
      expect(textOf(await tool('kv_get', '{"key":"a"}'))).toContain(wanted);
      const resource = await mcp('resources/read', '{"uri":"kv://a"}');
      expect(resource).toContain(`"text":${JSON.stringify(text)}`);
      await svc('kv', 'set', 'c', '--', text);
      expect(await svc('kv', 'get', 'c', '--json')).toContain(wanted);
      await send('PUT', '/v1/kv/d', text, { url: member.url });
      expect(await send('GET', '/v1/kv/d', null, { url: member.url })).toContain(wanted);
    });
  });

  it('in the state of a task', async () => {
    await everyValue(async (text) => {
      const wanted = `"state":${text},"note"`;
      await send('PUT', '/v1/state/a', `{ "state": ${text}, "note": "1.10" }`);
      expect(await send('GET', '/v1/state/a', null)).toContain(wanted);
      await tool('state_save', `{"task_id":"b","state":${text}}`, member.url);
      expect(await tool('state_load', '{"task_id":"b"}', member.url)).toContain(wanted);
      await svc('state', 'save', 'c', '--', text);
      expect(await svc('state', 'load', 'c')).toContain(wanted);
    });
  });

  it('in a payload that is listed, read, claimed and waited for, and its signature covers that', async () => {
    await everyValue(async (text) => {
      const body = fresh(text);
      const id = await deliver(body);
      const wanted = `"payload":${body},"payload_url"`;
      expect(await send('GET', '/v1/inbox?limit=1', null)).toContain(wanted);
      expect(await send('GET', `/v1/inbox/events/${id}`, null)).toContain(wanted);
      expect(await svc('inbox', 'wait')).toContain(wanted);
      // The copy of a member hears of it a moment later.
      const waited = await until(
        () => tool('inbox_wait', '{}', member.url),
        (answer) => answer.includes(id),
      );
      expect(waited).toContain(`"payload":${body}}`);
      expect(textOf(waited)).toContain(`"payload":${body}`);
      const claimed = await send('POST', '/v1/inbox/claim', `{"event_id":"${id}"}`);
      expect(signatureOf(payloadIn(claimed))).toBe(signatureOf(body));
      await send('POST', '/v1/inbox/ack', `{"event_id":"${id}"}`);
    });
  });

  it('in the result of an ack', async () => {
    await everyValue(async (text) => {
      const acks = [
        (id: string) =>
          send('POST', '/v1/inbox/ack', `{"event_id":"${id}","result":${text}}`, {
            url: member.url,
          }),
        (id: string) => tool('inbox_ack', `{"event_id":"${id}","result":${text}}`),
        (id: string) => svc('inbox', 'ack', id, `--result=${text}`),
      ];
      for (const ack of acks) {
        const id = await deliver(fresh('1'));
        await tool('inbox_claim', `{"event_id":"${id}"}`);
        await ack(id);
        const read = await send('GET', `/v1/inbox/events/${id}`, null);
        expect(read).toContain(`"result":${text},"reason"`);
      }
    }, 3);
  });

  it('in what a route delivers', async () => {
    const url = await gateway.addSource({ name: 'pushed' });
    const bodies = fc.sample(value, 8).map(fresh);
    for (const body of bodies) await deliver(body, url);
    const got = await receiver.came(bodies.length);
    expect(got.map(({ text }) => payloadIn(text)).toSorted()).toEqual(bodies.toSorted());
  });

  it('in what a worker reads and answers', async () => {
    const body = fresh('{"id":1234567890123456789,"price":1.10}');
    const id = await deliver(body);
    const told = await svc('inbox', 'work', '--exec', 'cat', '--max', '1', '--json');
    expect(told).toContain(`"payload":${body},"payload_url"`);
    const read = await send('GET', `/v1/inbox/events/${id}`, null);
    expect(/"result":\{.*"payload":(.*?),"payload_url"/.exec(read)?.[1]).toContain('1.10');
    expect(read.split(body)).toHaveLength(3);
  });
});

describe('an input with such numbers', () => {
  it('is taken where a number is wanted', async () => {
    const body = '{"action":"pay","summary":"Pay","amount":129.50,"wait_seconds":0.0}';
    const asked = await send('POST', '/v1/requests', body);
    const { request_id } = JSON.parse(asked) as { request_id: string };
    const read = await send('GET', `/v1/requests/${request_id}`, null);
    expect(read).toContain('"amount":129.5,');
    const args = '{"action":"pay","summary":"Pay","amount":1e2,"wait_seconds":0}';
    expect(await tool('ask_approval', args)).toContain('"isError":false');
  });

  it('is refused where it would be another amount', async () => {
    const fields = '"action":"pay","summary":"Pay","amount":9007199254740993,"wait_seconds":0';
    const answer = await request('POST', '/v1/requests', `{${fields}}`);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain(
      '{"path":"amount","message":"The number has too many digits to be exact."}',
    );
    expect(await tool('ask_approval', `{${fields}}`)).toContain('VALIDATION_FAILED');
  });

  it('is compared as it is written when it is repeated', async () => {
    const headers = { 'idempotency-key': 'numbers-1' };
    const texts = ['[1234567890123456789]', '[1234567890123456789]', '[1234567890123456788]'];
    const statuses: number[] = [];
    for (const text of texts) {
      statuses.push((await request('PUT', '/v1/kv/repeated', text, { headers })).status);
    }
    expect(statuses).toEqual([200, 200, 400]);
  });
});
