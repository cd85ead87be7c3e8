import { connect } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { laneOf, type Lane } from '../../../shared/admission/fair-queue.ts';
import { Ticket } from '../../../shared/admission/turns.ts';
import { HostedGateway, type HostedProject } from '../../helpers/hosted.ts';

const PLACES = 64;
const KIB = 1024;
const JSON_TYPE = { 'content-type': 'application/json' };

let gateway: HostedGateway;
let flooding: HostedProject;
let neighbour: HostedProject;

beforeAll(async () => {
  gateway = await HostedGateway.start('127.0.0.1/32');
  flooding = await gateway.project('flooding');
  neighbour = await gateway.project('neighbour');
});

beforeEach(async () => {
  // Who has shown a key or a hook address lately waits with their project.
  for (const one of [flooding, neighbour]) {
    await call(one, 'GET', '/v1/whoami');
    await fetch(one.hook, { method: 'POST', body: 'known' });
  }
});

afterAll(() => gateway.stop());

function call({ apiKey }: HostedProject, method: string, path: string, body?: string) {
  const headers = { authorization: `Bearer ${apiKey}`, ...(body !== undefined && JSON_TYPE) };
  return fetch(gateway.url + path, { method, headers, ...(body !== undefined && { body }) });
}

function stranger(address: string, path: string): Promise<Response> {
  return fetch(gateway.url + path, { headers: { 'x-forwarded-for': address } });
}

function verify(one: HostedProject): Promise<Response> {
  return call(one, 'POST', '/v1/ledger/verify', '{}');
}

function laneOfProject({ id }: HostedProject): Lane {
  return laneOf('known', id, '');
}

/** Takes all places that this holder may have; returns a function that gives them back. */
function occupy(lane: Lane): () => void {
  const { turns } = gateway.admission;
  for (let n = 0; n < PLACES; n += 1) expect(turns.takePlaces(lane, 1)).toBe(true);
  return () => {
    for (let n = 0; n < PLACES; n += 1) turns.givePlaces(lane, 1);
  };
}

function waitingBytes(): number {
  return gateway.admission.turns.waitingBytes;
}

describe('a project with as many requests under way as it may have', () => {
  it('has its next one wait, and nothing of its body is taken meanwhile', async () => {
    const giveBack = occupy(laneOfProject(flooding));
    const waiting = call(flooding, 'PUT', '/v1/kv/a', `"${'a'.repeat(120 * KIB)}"`);
    await expect.poll(() => waitingBytes() > 0).toBe(true);
    // Its head, and what Node may have read.
    expect(waitingBytes()).toBe(8 * KIB + 64 * KIB);
    expect(gateway.admission.bodyBytes('api')).toBe(0);
    giveBack();
    expect((await waiting).status).toBe(200);
    expect([waitingBytes(), gateway.admission.turns.underWay]).toEqual([0, 0]);
  });

  it('keeps no other project waiting, nor a stranger at the same address', async () => {
    const giveBack = occupy(laneOfProject(flooding));
    expect((await call(neighbour, 'PUT', '/v1/kv/a', '1')).status).toBe(200);
    expect((await fetch(neighbour.hook, { method: 'POST', body: '{}' })).status).toBe(200);
    expect((await fetch(`${gateway.url}/v1/openapi.json`)).status).toBe(200);
    giveBack();
  });

  it('gets 503 with Retry-After where its line is full, and a sender loses nothing', async () => {
    const lane = laneOfProject(flooding);
    const giveBack = occupy(lane);
    const { turns } = gateway.admission;
    const line = new Ticket(turns, lane);
    expect(turns.enter(line, 32 * KIB * KIB - 8 * KIB, () => undefined)).toBeNull();
    const send = () =>
      fetch(flooding.hook, { method: 'POST', body: '{"n":1}', headers: JSON_TYPE });
    const refused = await send();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await refused.json()).toMatchObject({
      error: { code: 'UNAVAILABLE', details: { retry_after: 1, of: 'project' } },
    });
    expect((await call(neighbour, 'GET', '/v1/whoami')).status).toBe(200);
    line.release();
    giveBack();
    const taken = (await (await send()).json()) as { status: string };
    expect(taken.status).toBe('accepted');
    const metrics = await gateway.metrics();
    expect(metrics.find((one) => one.includes('at="waiting requests"'))).toMatch(/project.* 1$/);
  });

  it('forgets a caller in line who has left', async () => {
    const giveBack = occupy(laneOfProject(flooding));
    const leaving = new AbortController();
    const leaver = fetch(`${gateway.url}/v1/kv/left`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${flooding.apiKey}`, ...JSON_TYPE },
      body: '1',
      signal: leaving.signal,
    });
    await expect.poll(() => waitingBytes() > 0).toBe(true);
    leaving.abort();
    await expect(leaver).rejects.toThrow(/abort/);
    await expect.poll(() => waitingBytes() === 0).toBe(true);
    giveBack();
    expect(await (await call(flooding, 'GET', '/v1/kv/left')).json()).toBeNull();
  });
});

describe('a stranger who floods', () => {
  it('keeps no other address waiting, nor who has shown a key', async () => {
    const giveBack = occupy(laneOf('strangers', '192.0.2.1', ''));
    const waiting = stranger('192.0.2.1', '/v1/openapi.json');
    await expect.poll(() => waitingBytes() > 0).toBe(true);
    expect((await stranger('192.0.2.2', '/v1/openapi.json')).status).toBe(200);
    expect((await stranger('192.0.2.2', '/readyz')).status).toBe(200);
    expect((await call(neighbour, 'GET', '/v1/whoami')).status).toBe(200);
    giveBack();
    expect((await waiting).status).toBe(200);
  });

  it('is one address in a /64, and gets no lane of another project by naming it', async () => {
    const giveBack = occupy(laneOf('strangers', '2001:db8:0:1', ''));
    const made = neighbour.apiKey.slice(0, -1) + (neighbour.apiKey.endsWith('0') ? '1' : '0');
    const waiting = fetch(`${gateway.url}/v1/whoami`, {
      headers: { 'x-forwarded-for': '2001:db8:0:1:a::1', authorization: `Bearer ${made}` },
    });
    await expect.poll(() => waitingBytes() > 0).toBe(true);
    giveBack();
    expect((await waiting).status).toBe(401);
  });

  it('ends a connection by sending too many requests before it reads an answer', async () => {
    const giveBack = occupy(laneOf('strangers', '127.0.0.1', ''));
    const socket = connect(gateway.port, '127.0.0.1');
    const closed = once(socket, 'close');
    socket.on('error', () => undefined);
    socket.write('GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(65));
    await closed;
    await expect.poll(() => waitingBytes() === 0).toBe(true);
    giveBack();
    expect(gateway.admission.turns.underWay).toBe(0);
    expect(await gateway.metrics()).toContain(
      'svc_turned_away_total{at="waiting requests",reason="connection"} 1',
    );
  });
});

describe('a caller who waits', () => {
  it.each([
    ['an event', 'GET', '/v1/inbox/wait?timeout_seconds=60&type=none', null],
    ['an answer', 'POST', '/v1/requests', { question: 'Go?', wait_seconds: 60 }],
  ])('for %s holds no place', async (_, method, path, body) => {
    const { requests, turns } = gateway.admission;
    const ended = new AbortController();
    const answer = fetch(gateway.url + path, {
      method,
      headers: { authorization: `Bearer ${neighbour.apiKey}`, ...JSON_TYPE },
      ...(body && { body: JSON.stringify(body) }),
      signal: ended.signal,
    });
    await expect.poll(() => requests.size > 0 && turns.underWay === 0).toBe(true);
    ended.abort();
    await expect(answer).rejects.toThrow(/abort/);
    await expect.poll(() => requests.size === 0).toBe(true);
  });

  it('for changes, as a replica does, holds no place', async () => {
    const ended = new AbortController();
    const headers = { authorization: `Bearer ${neighbour.apiKey}` };
    await call(neighbour, 'GET', '/v1/replica');
    const answer = await fetch(`${gateway.url}/v1/replica/changes`, {
      headers,
      signal: ended.signal,
    });
    expect([answer.status, gateway.admission.turns.underWay]).toEqual([200, 0]);
    ended.abort();
    await expect.poll(() => gateway.admission.requests.size === 0).toBe(true);
  });
});

describe('verifying the ledger', () => {
  it('runs once at a time in a project; eight wait, and others are told when to repeat it', async () => {
    const ends: (() => void)[] = [];
    const work = () => new Promise<void>((resolve) => ends.push(resolve));
    const running = gateway.admission.alone('long reads', flooding.id, { work });
    const waiting = Array.from({ length: 8 }, () => verify(flooding));
    await expect.poll(() => gateway.admission.turns.underWay === 8).toBe(true);
    const refused = await verify(flooding);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
    expect((await verify(neighbour)).status).toBe(200);
    for (const end of ends) end();
    await running;
    const answers = await Promise.all(waiting);
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
  });
});
