import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { endHistory, historyOf } from '../../../gateway/replica/history.ts';
import { FakeClock, type TestGateway } from '../../helpers/gateway.ts';
import { ChangeStream } from './change-stream.ts';
import { RemoteStage } from './remote-stage.ts';
import { StockClient } from './stock-client.ts';

const FRAME = 24 + 4096;
const MINUTE_MS = 60_000;
const NO_REPLICA = {
  code: 'NOT_FOUND',
  message: 'Not found.',
  hint: "This gateway's store offers no replicas. Send every call to the gateway.",
  details: { reason: 'no_replica' },
};

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  readonly body: Record<string, unknown>;
}

interface Place {
  readonly epoch: string;
  readonly generation: number;
  readonly position: number;
}

let clock: FakeClock;
let stage: RemoteStage;
const streams: ChangeStream[] = [];
const clients: StockClient[] = [];

beforeEach(async () => {
  clock = new FakeClock();
  stage = await RemoteStage.open({ clock });
});
afterEach(async () => {
  for (const stream of streams.splice(0)) stream.leave();
  for (const client of clients.splice(0)) await client.stop();
  await stage.end();
});

/** By a path under `/v1/replica`. */
async function ask(
  path: string,
  {
    at = stage.gateway,
    key = stage.gateway.apiKey,
  }: { at?: TestGateway; key?: string | null } = {},
): Promise<Answer> {
  const headers = key === null ? {} : { authorization: `Bearer ${key}` };
  const response = await fetch(`${at.url}/v1/replica${path}`, { headers });
  const bytes = Buffer.from(await response.arrayBuffer());
  const isJson = response.headers.get('content-type') === 'application/json';
  const body = isJson ? (JSON.parse(bytes.toString()) as Record<string, unknown>) : {};
  return { status: response.status, headers: response.headers, bytes, body };
}

async function place(at?: TestGateway): Promise<Place> {
  const { status, body } = await ask('', { ...(at && { at }) });
  expect(status).toBe(200);
  return body as unknown as Place;
}

async function follow(at = stage.gateway): Promise<ChangeStream> {
  const stream = await ChangeStream.open(at.url, stage.gateway.apiKey);
  streams.push(stream);
  return stream;
}

async function stock(at = stage.gateway): Promise<StockClient> {
  const syncUrl = `${at.url}/v1/replica/${(await place(at)).epoch}`;
  const path = join(stage.folder, `stock-${clients.length}.db`);
  const client = await StockClient.open({ path, syncUrl, authToken: stage.gateway.apiKey });
  clients.push(client);
  return client;
}

/** The error of an answer. */
function errorIn({ body }: Answer): unknown {
  return body['error'];
}

describe('a project whose database is on a server', () => {
  it('stands where the server says, in a history that all gateways call the same', async () => {
    const position = await stage.set('one');
    const other = await stage.add();
    const [first, second] = await Promise.all([place(), place(other)]);
    expect(first).toMatchObject({
      generation: 1,
      epoch: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
    });
    expect(first.position).toBeGreaterThanOrEqual(position);
    expect(second.epoch).toBe(first.epoch);
    expect((await place(other)).position).toBe((await place()).position);
  });

  it('is as far as another gateway has brought it', async () => {
    const other = await stage.add();
    await place();
    const position = await stage.set('theirs', { at: other });
    expect((await place()).position).toBe(position);
  });

  it('has another epoch once its history was ended, at all gateways', async () => {
    const other = await stage.add();
    const { epoch } = await place();
    const project = await stage.project();
    const { name } = await historyOf(project);
    await endHistory(project, name);
    // Who is late has nothing to end.
    await endHistory(await stage.project(other), name);
    const { epoch: next } = await place();
    expect(next).not.toBe(epoch);
    expect((await place(other)).epoch).toBe(next);
    expect((await ask(`/${epoch}/sync/1/1/2`)).status).toBe(404);
    expect((await ask(`/${epoch}/sync/1/1/2`, { at: other })).status).toBe(404);
  });

  it('has another epoch when the server goes back to an earlier generation', async () => {
    const { epoch } = await place();
    stage.front.answer = (what) =>
      what === 'info' ? { status: 200, body: { current_generation: 3 } } : null;
    expect(await place()).toMatchObject({ epoch, generation: 3 });
    stage.front.answer = () => null;
    const after = await place();
    expect(after).toMatchObject({ generation: 1 });
    expect(after.epoch).not.toBe(epoch);
    expect(await place()).toEqual(expect.objectContaining({ epoch: after.epoch, generation: 1 }));
    expect(errorIn(await ask(`/${epoch}/info`))).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe("libSQL's own client", () => {
  it('follows the server through the gateway, whoever writes', async () => {
    await stage.set('before', { value: 'x'.repeat(100_000) });
    const other = await stage.add();
    const client = await stock();
    await client.sync();
    expect(await client.value('SELECT count(*) FROM kv')).toBe(1);
    for (let n = 0; n < 10; n += 1) {
      const position = await stage.set(`key-${n}`, { at: n % 2 ? other : stage.gateway });
      await client.sync();
      expect(await client.value("SELECT value FROM meta WHERE name = 'commit_seq'")).toBe(position);
    }
    expect(await client.value('PRAGMA integrity_check')).toBe('ok');
    expect(await client.value('SELECT count(*) FROM kv')).toBe(11);
  });

  it('gets transactions of many portions whole', async () => {
    const client = await stock();
    await Promise.all(
      Array.from({ length: 30 }, (_, n) => stage.set(`many-${n}`, { value: 'x'.repeat(100_000) })),
    );
    await client.sync();
    expect(await client.value('SELECT count(*) FROM kv')).toBe(30);
    expect(await client.value('PRAGMA integrity_check')).toBe('ok');
  });
});

describe('the stream of changes', () => {
  it('tells commits of this gateway, and of others as anything', async () => {
    const other = await stage.add();
    const stream = await follow();
    const { data } = await stream.named('place');
    expect(data).toMatchObject({ epoch: (await place()).epoch, generation: 1 });
    const own = await stage.set('own');
    await stream.next((told) => told.name === 'change' && told.data['position'] === own);
    const theirs = await stage.set('theirs', { at: other });
    const change = await stream.next(
      (told) => told.name === 'change' && told.data['position'] === theirs,
    );
    expect(change.data).toMatchObject({ changes: [], all: true });
  });
});

describe('the protocol', () => {
  it('is passed on with the token of the gateway, which nobody sees', async () => {
    await stage.set('one');
    const { epoch, position } = await place();
    expect(position).toBeGreaterThan(0);
    const answers = [
      await ask(''),
      await ask(`/${epoch}/info`),
      await ask(`/${epoch}/export/1`),
      await ask(`/${epoch}/sync/1/1/129`),
      await ask(`/${epoch}/sync/1/100000/100001`),
      await ask(`/${epoch}/sync/9/1/2`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 400, 404]);
    const [, info, file, frames, none] = answers;
    expect(info?.body).toEqual({ current_generation: 1 });
    expect(file?.bytes.subarray(0, 15).toString()).toBe('SQLite format 3');
    expect(Number(file?.headers.get('content-length'))).toBe(file?.bytes.length);
    expect((frames?.bytes.length ?? 0) % FRAME).toBe(0);
    expect(none?.body).toEqual({ generation: 1 });
    for (const { headers, bytes } of answers) {
      const shown = JSON.stringify([...headers]) + bytes.toString('latin1');
      expect(shown).not.toContain(stage.token);
      expect(shown).not.toContain(stage.front.url);
    }
  });

  it('asks the server nothing for whoever has no key, or lacks a scope', async () => {
    const { epoch } = await place();
    const poor = await stage.gateway.key('inbox:read', 'disk');
    const before = stage.front.asked.length;
    for (const path of ['', '/changes', `/${epoch}/info`, `/${epoch}/export/1`]) {
      expect((await ask(path, { key: null })).status).toBe(401);
      expect(errorIn(await ask(path, { key: poor }))).toMatchObject({ code: 'SCOPE_MISSING' });
    }
    expect(stage.front.asked.length).toBe(before);
  });

  it('shares one question among those who ask the same', async () => {
    await stage.set('one');
    const { epoch } = await place();
    const before = stage.front.count('sync/');
    const held = new EventEmitter().setMaxListeners(0);
    let isHeld = true;
    stage.front.answer = (what) =>
      what.startsWith('sync/')
        ? async (to) => {
            if (isHeld) await once(held, 'end');
            to.writeHead(200).end(Buffer.alloc(FRAME, 1));
          }
        : null;
    const asked = Array.from({ length: 20 }, () => ask(`/${epoch}/sync/1/1/2`));
    await sleep(1000);
    isHeld = false;
    held.emit('end');
    for (const { status, bytes } of await Promise.all(asked)) {
      expect([status, bytes.length]).toEqual([200, FRAME]);
    }
    // A commit that came between, such as that the key was used, makes it another question.
    expect(stage.front.count('sync/') - before).toBeLessThan(10);
  });
});

describe('a server in trouble', () => {
  it.each(['cut', 401, 408, 429, 500, 502, 503] as const)(
    'that answers info with %s is trouble here',
    async (answer) => {
      const { epoch } = await place();
      stage.front.answer = (what) =>
        what === 'info' ? (answer === 'cut' ? answer : { status: answer }) : null;
      for (const path of ['', '/changes', `/${epoch}/info`, `/${epoch}/export/1`]) {
        const answered = await ask(path);
        expect(answered.status).toBe(503);
        expect(answered.headers.get('retry-after')).toBe('5');
      }
      stage.front.answer = () => null;
      expect((await ask(`/${epoch}/info`)).status).toBe(200);
    },
  );

  it.each([
    ['a cut line', 'cut'],
    ['400 without a generation', { status: 400, body: { error: 'no' } }],
    ['400 and no generation', { status: 400, body: { generation: 0 } }],
    ['401', { status: 401 }],
    ['403', { status: 403 }],
    ['302', { status: 302 }],
    ['500', { status: 500 }],
    ['503', { status: 503 }],
    ['nothing', { status: 200, body: Buffer.alloc(0) }],
    ['less than a frame', { status: 200, body: Buffer.alloc(FRAME - 1) }],
    ['more frames than were asked for', { status: 200, body: Buffer.alloc(9 * FRAME) }],
  ] as const)('that answers sync with %s is trouble here', async (_, answer) => {
    const { epoch } = await place();
    stage.front.answer = (what) => (what.startsWith('sync/') ? answer : null);
    const { status, body } = await ask(`/${epoch}/sync/1/1/9`);
    expect(status).toBe(503);
    expect(body).not.toHaveProperty('generation');
  });

  it.each([
    ['a cut line', 'cut'],
    ['400 and a generation', { status: 400, body: { generation: 1 } }],
    ['401', { status: 401 }],
    ['500', { status: 500 }],
    ['a page', { status: 200, body: Buffer.from('<html></html>') }],
    ['zeros', { status: 200, body: Buffer.alloc(4096) }],
  ] as const)('that answers export with %s is trouble here', async (_, answer) => {
    const { epoch } = await place();
    stage.front.answer = (what) => (what.startsWith('export/') ? answer : null);
    expect((await ask(`/${epoch}/export/1`)).status).toBe(503);
  });

  it('that does not have the place any more makes a replica begin anew', async () => {
    const { epoch } = await place();
    stage.front.answer = (what) => (what === 'info' ? null : { status: 404 });
    expect(errorIn(await ask(`/${epoch}/sync/1/1/9`))).toMatchObject({ code: 'NOT_FOUND' });
    expect(errorIn(await ask(`/${epoch}/export/1`))).toMatchObject({ code: 'NOT_FOUND' });
    expect((await place()).epoch).toBe(epoch);
  });
});

describe('a server without replicas', () => {
  it.each([
    ['404', { status: 404 }],
    ['403', { status: 403 }],
    ['302', { status: 302 }],
    ['a greeting', { status: 200, body: Buffer.from('Hrana over HTTP') }],
    ['a long page', { status: 200, body: Buffer.alloc(100_000, 'x') }],
    ['no generation', { status: 200, body: { current_generation: 0 } }],
  ] as const)('that answers info with %s is asked seldom', async (_, answer) => {
    stage.front.answer = (what) => (what === 'info' ? answer : null);
    for (const path of ['', '/changes', '/0/info', '/0/export/1', '/0/sync/1/1/2']) {
      const answered = await ask(path);
      expect(answered.status).toBe(404);
      expect(errorIn(answered)).toEqual(NO_REPLICA);
    }
    expect(stage.front.asked).toEqual(['info']);
    clock.advance(5 * MINUTE_MS);
    stage.front.answer = () => null;
    expect((await place()).generation).toBe(1);
  });

  it('any more is told to replicas that were there', async () => {
    const { epoch } = await place();
    stage.front.answer = () => ({ status: 404 });
    expect(errorIn(await ask(`/${epoch}/sync/1/1/2`))).toEqual(NO_REPLICA);
  });
});
