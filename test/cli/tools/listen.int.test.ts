import { afterEach, describe, expect, it } from 'vitest';
import { run } from '../../../cli/commands/listen.ts';
import { forwardUrl, payloadBytes } from '../../../cli/work/forward.ts';
import { parseExact } from '../../../shared/lib/json/exact-json.ts';
import { headerRecord } from '../../../gateway/http/stored-headers.ts';
import { verifySignature } from '../../../shared/rules/payload/signature.ts';
import {
  event,
  fakeContext,
  fakeInbox,
  FakeClient,
  parsedLine,
  receiver,
  refusal,
} from './fakes.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function receiving(status: number) {
  const server = await receiver(() => ({ status }));
  closers.push(server.close);
  return server;
}

/** Runs until so many lines were printed. */
async function listenFor(lines: number, given: Parameters<typeof fakeContext>[0]) {
  const stop = new AbortController();
  let seen = 0;
  const { context, printed } = fakeContext({
    ...given,
    signal: stop.signal,
    onLine: () => {
      seen += 1;
      if (seen === lines) stop.abort();
    },
  });
  const code = await run(context);
  return {
    code,
    printed: printed.lines.map((line) => parsedLine(line)),
    notes: printed.notes,
  };
}

describe('svc listen', () => {
  it('prints what comes from now on, each event once, and takes nothing', async () => {
    const asked: unknown[] = [];
    const later = [null, event('evt_1'), event('evt_2')];
    const client = new FakeClient({
      'GET /v1/inbox/wait': ({ query }) => {
        asked.push(query);
        return { event: later.shift() ?? null };
      },
    });
    const { code, printed } = await listenFor(2, { client });
    expect(printed.map(({ id }) => id)).toEqual(['evt_1', 'evt_2']);
    expect(asked).toMatchObject([
      { since: expect.stringMatching(/Z$/), after: undefined },
      { after: undefined },
      { after: 'evt_1' },
    ]);
    expect(client.calls.filter(({ route }) => !route.startsWith('GET '))).toEqual([]);
    expect(code).toBe(130);
  });

  it('says at once that a source is not there', async () => {
    const client = new FakeClient({
      'GET /v1/inbox': () => ({ items: [], warnings: ['There is no source `nope` now.'] }),
      'GET /v1/inbox/wait': () => ({ event: event('evt_1') }),
    });
    const { notes } = await listenFor(1, { client, options: { source: 'nope' } });
    expect(notes).toContain('Warning: There is no source `nope` now.');
  });

  it('goes on from now where the gateway no longer knows the last event, and says so once', async () => {
    const asked: unknown[] = [];
    const later = [event('evt_1'), 'lost', event('evt_2')] as const;
    const client = new FakeClient({
      'GET /v1/inbox/wait': ({ query }) => {
        asked.push(query);
        const next = later[asked.length - 1];
        const fields = [{ path: 'after', message: 'No such event.' }];
        if (next === 'lost') throw refusal('VALIDATION_FAILED', { fields });
        return { event: next ?? null };
      },
    });
    const { printed, notes } = await listenFor(2, { client, options: { backlog: true } });
    expect(printed.map(({ id }) => id)).toEqual(['evt_1', 'evt_2']);
    expect(asked.slice(0, 3)).toMatchObject([
      { since: undefined, after: undefined },
      { after: 'evt_1' },
      { since: expect.stringMatching(/Z$/), after: undefined },
    ]);
    expect(notes.filter((note) => note.includes('history changed'))).toEqual([
      "The gateway's history changed, as after a restore (it has no evt_1). Continuing with new events.",
    ]);
  });

  it('dies of another refusal', async () => {
    const fields = [{ path: 'source', message: 'Too long.' }];
    const client = new FakeClient({
      'GET /v1/inbox/wait': () => {
        throw refusal('VALIDATION_FAILED', { fields });
      },
    });
    await expect(listenFor(1, { client })).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
  });

  it('begins with the backlog when told to', async () => {
    const client = fakeInbox([event('evt_1')]);
    await listenFor(1, { client, options: { backlog: true, source: 'github', type: 'push*' } });
    const [wait] = client.calls.filter(({ route }) => route === 'GET /v1/inbox/wait');
    expect(wait?.options.query).toMatchObject({
      since: undefined,
      source: 'github',
      type: 'push*',
    });
  });

  it('forwards body and headers, and acks what the receiver takes', async () => {
    const server = await receiving(204);
    const headers = {
      'content-type': 'application/json',
      'x-github-event': 'push',
      host: 'hooks.example.com',
      'content-length': '99',
      'transfer-encoding': 'chunked',
    };
    const client = fakeInbox([event('evt_1', { headers, payload: { ref: 'ü' } })]);
    const { printed } = await listenFor(1, { client, options: { forward: `${server.url}/hook` } });
    expect(printed[0]).toMatchObject({ event_id: 'evt_1', status: 204, outcome: 'acked' });
    const [received] = server.received;
    expect(received?.url).toBe('/hook');
    expect(received?.body.toString('utf8')).toBe('{"ref":"ü"}');
    expect(received?.headers).toMatchObject({ 'x-github-event': 'push', 'svc-event-id': 'evt_1' });
    expect(received?.headers.host).toMatch(/^127\.0\.0\.1/);
    expect(client.bodies('POST /v1/inbox/ack')[0]).toMatchObject({ result: { forwarded: 204 } });
  });

  it('gives back what the receiver refuses, and what nobody receives', async () => {
    const server = await receiving(500);
    const refused = fakeInbox([event('evt_1')]);
    await listenFor(1, { client: refused, options: { forward: server.url } });
    expect(refused.bodies('POST /v1/inbox/nack')).toMatchObject([
      { retry: true, reason: 'The receiver answered 500.' },
    ]);
    const nobody = fakeInbox([event('evt_1')]);
    const { printed } = await listenFor(1, { client: nobody, options: { forward: '127.0.0.1:1' } });
    expect(printed[0]).toMatchObject({ status: null, outcome: 'retry' });
  });

  it.each(['stripe', 'github', 'hmac_sha256', 'standard_webhooks'] as const)(
    'signs anew as %s',
    async (scheme) => {
      const server = await receiving(200);
      const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
      const headers = { 'svix-id': 'msg_1', 'svix-timestamp': '1', 'content-type': 'text/plain' };
      const client = fakeInbox([event('evt_1', { headers, payload: { text: 'hello' } })]);
      const env = { SVC_WEBHOOK_SECRET: secret };
      await listenFor(1, { client, env, options: { forward: server.url, scheme } });
      const [received] = server.received;
      const valid = verifySignature({
        verification: scheme,
        secrets: [secret],
        headers: headerRecord(received?.rawHeaders ?? []),
        body: received?.body ?? Buffer.alloc(0),
        nowMs: Date.now(),
      });
      expect(valid).toBe(true);
      expect(received?.body.toString('utf8')).toBe('hello');
    },
  );

  it('fetches bodies that are stored apart', async () => {
    const store = await receiver(() => ({ status: 200, body: '{"large": true}' }));
    closers.push(store.close);
    const server = await receiving(200);
    const large = event('evt_1', { payload: null, payload_url: `${store.url}/l/x` });
    await listenFor(1, { client: fakeInbox([large]), options: { forward: server.url } });
    expect(server.received[0]?.body.toString('utf8')).toBe('{"large": true}');
  });

  it.each<Record<string, string>>([
    { forward: 'http://' },
    { forward: 'ftp://localhost/hook' },
    { secret: 'x' },
    { scheme: 'github' },
    { scheme: 'github', forward: '3000' },
    { scheme: 'rot13', forward: '3000' },
    { scheme: 'standard_webhooks', secret: 'short', forward: '3000' },
  ])('refuses %j', async (options) => {
    const { context } = fakeContext({ options, env: {} });
    await expect(run(context)).rejects.toMatchObject({ exit: 2 });
  });
});

describe('what is forwarded', () => {
  it.each([
    ['3000', 'http://localhost:3000/'],
    [':3000/a?b=c', 'http://localhost:3000/a?b=c'],
    ['localhost:8080/x', 'http://localhost:8080/x'],
    ['https://example.com/x', 'https://example.com/x'],
  ])('%s goes to %s', (text, url) => {
    expect(forwardUrl(text).href).toBe(url);
  });

  it.each<[unknown, string | undefined, string]>([
    [{ a: 1 }, 'application/json', '{"a":1}'],
    [{ text: 'x' }, 'application/json; charset=utf-8', '{"text":"x"}'],
    [{ text: 'x' }, 'text/plain', 'x'],
    [{ text: 'x' }, undefined, 'x'],
    [{ text: 'x', more: 1 }, undefined, '{"text":"x","more":1}'],
    [{ base64: 'aGk=' }, 'application/octet-stream', 'hi'],
    [{ a: ['1', '2'], b: 'x y' }, 'application/x-www-form-urlencoded', 'a=1&a=2&b=x+y'],
    [null, undefined, 'null'],
    [[1], 'application/json', '[1]'],
    [parseExact('{"id":1234567890123456789}'), undefined, '{"id":1234567890123456789}'],
  ])('%j as %s is %s', (payload, type, body) => {
    expect(payloadBytes(payload, type).toString('utf8')).toBe(body);
  });
});
