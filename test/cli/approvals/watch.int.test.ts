import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { refuse, type FakeDaemon } from '../fake-daemon.ts';
import { answering, ID, OWNER, record, svc, type Json } from './fake-people.ts';
import { hurryTime } from '../../helpers/hurried-time.ts';

beforeEach(() => hurryTime(10));

const OTHER = 'req_01j9z3k4m5n6p7q8r9s0t1v2w4';
const OLD = record({
  request_id: OTHER,
  summary: 'Old one',
  created_at: '2026-01-01T00:00:00.000Z',
});
const APPROVED = { status: 'approved', comment: 'go', decided_by: `channel:${OWNER}` };

let daemon: FakeDaemon | undefined;
afterEach(() => daemon?.close());

/** Pages that come one after another, the last of them again and again; null is a daemon in trouble. */
async function paging(pages: (Json[] | null)[], records: Record<string, Json> = {}) {
  const routes = Object.entries(records).map(
    ([id, one]) => [`GET /v1/requests/${id}`, one] as const,
  );
  daemon = await answering({
    ...Object.fromEntries(routes),
    'GET /v1/requests': (_, response) => {
      const page = pages.length > 1 ? pages.shift() : pages[0];
      if (page) return { items: page, next_cursor: null };
      refuse(response, 503, 'UNAVAILABLE');
      return undefined;
    },
  });
  return daemon;
}

function proxyPage(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'text/html', server: 'nginx' });
  response.end('<html><body>Gateway Time-out</body></html>');
}

/** Watches until so many looks are over. */
async function watched(fake: FakeDaemon, looks: number, terminal: boolean) {
  const abort = new AbortController();
  const watching = svc(['request', 'watch'], fake, { terminal, signal: abort.signal });
  await expect
    .poll(() => fake.seen.filter(({ url }) => url.startsWith('/v1/requests?')).length, {
      timeout: 60_000,
    })
    .toBe(looks + 1);
  abort.abort();
  return watching;
}

describe('request watch', () => {
  it('is a line of JSON for each that was asked or decided', async () => {
    const decided = { ...OLD, ...APPROVED };
    const fake = await paging([[OLD], [record(), OLD], [record()]], { [OTHER]: decided });
    const { code, stdout, stderr } = await watched(fake, 3, false);
    expect([code, stderr]).toEqual([130, '']);
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line): unknown => JSON.parse(line)),
    ).toEqual([
      { change: 'asked', request: OLD },
      { change: 'asked', request: record() },
      { change: 'decided', request: decided },
    ]);
  });

  it('shows on a terminal what waits, and keeps a line of what was decided', async () => {
    const decided = { ...OLD, ...APPROVED };
    const fake = await paging([[record(), OLD], [record()]], { [OTHER]: decided });
    const { stdout } = await watched(fake, 2, true);
    const [first = '', second = ''] = stdout.split(`\r\u001b[J${'\u001b[A\u001b[2K'.repeat(4)}`);
    expect(first.split('\n').map((line) => line.trimEnd())).toEqual([
      '2 requests wait for a person',
      expect.stringMatching(/^ASKED +KIND +RISK +WHAT +EXPIRES +REQUEST ID$/),
      expect.stringMatching(/ago +approval +medium +deploy: Old one +in \d+ days +req_\w+4$/),
      expect.stringMatching(/ago +approval +medium +deploy: Deploy v2 +in \d+ days +req_\w+3$/),
      '',
    ]);
    expect(second.split('\n')[0]).toBe(`✓ Approved by owner: go — deploy: Old one (${OTHER})`);
    expect(second.split('\n')[1]).toBe('1 request waits for a person');
  });

  it('sits out a daemon that is away', async () => {
    const fake = await paging([[], null, [record()]]);
    const { stdout, stderr } = await watched(fake, 3, false);
    expect(stderr).toBe('UNAVAILABLE. Trying again.\nConnected again.\n');
    expect(JSON.parse(stdout)).toEqual({ change: 'asked', request: record() });
  });

  it.each([
    ['a page of HTML with 502', (response: ServerResponse) => proxyPage(response, 502)],
    ['a page of HTML with 504', (response: ServerResponse) => proxyPage(response, 504)],
    ['a page of HTML with 200', (response: ServerResponse) => proxyPage(response, 200)],
    ['a cut connection', (response: ServerResponse) => void response.destroy()],
  ])('goes on when its first look meets %s', async (_, meets) => {
    let looks = 0;
    daemon = await answering({
      'GET /v1/requests': (_seen, response) => {
        looks += 1;
        if (looks > 1) return { items: [record()], next_cursor: null };
        meets(response);
        return undefined;
      },
    });
    const { stdout } = await watched(daemon, 2, false);
    expect(JSON.parse(stdout)).toEqual({ change: 'asked', request: record() });
  });

  it('fails at once where there is none', async () => {
    const { code, stderr } = await svc(['request', 'watch'], { env: { SVC_HOME: '/nonexistent' } });
    expect([code, stderr]).toEqual([7, expect.stringContaining('no key is stored here')]);
  });

  it('--once shows what there is, and ends', async () => {
    const fake = await paging([[record()]]);
    expect(await svc(['request', 'watch', '--once'], fake)).toEqual({
      code: 0,
      stdout: `${JSON.stringify({ change: 'asked', request: record() })}\n`,
      stderr: '',
    });
    daemon?.close();
    const none = await svc(['request', 'watch', '--once'], await paging([[]]), { terminal: true });
    expect(none).toEqual({ code: 0, stdout: 'No requests are waiting.\n', stderr: '' });
  });

  it('--status shows those that stand so', async () => {
    const denied = record({ status: 'denied', comment: 'no' });
    const fake = await paging([[denied]]);
    const line = ['request', 'watch', '--status', 'denied', '--once'];
    const { stdout } = await svc(line, fake, { terminal: true });
    expect(stdout).toBe(`✗ Denied: no — deploy: Deploy v2 (${ID})\n`);
    expect(fake.seen[0]?.url).toBe('/v1/requests?status=denied&limit=100');
  });
});

describe('request watch <request_id>', () => {
  it.each([
    ['approved', 0],
    ['denied', 5],
  ])('waits until it is %s, and ends with %i', async (status, code) => {
    const records = [record(), record({ status })];
    daemon = await answering({ [`GET /v1/requests/${ID}`]: () => records.shift() ?? null });
    const ran = await svc(['request', 'watch', ID], daemon);
    expect(ran).toEqual({ code, stdout: `${JSON.stringify(record({ status }))}\n`, stderr: '' });
  });

  it('--once only looks', async () => {
    daemon = await answering({ [`GET /v1/requests/${ID}`]: record() });
    expect((await svc(['request', 'watch', ID, '--once'], daemon)).code).toBe(6);
  });

  it('ends with 130 at Ctrl-C, and with 3 where there is no such request', async () => {
    daemon = await answering({ [`GET /v1/requests/${ID}`]: record() });
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 200);
    const line = ['request', 'watch', ID];
    expect((await svc(line, daemon, { signal: abort.signal })).code).toBe(130);
    expect((await svc(['request', 'watch', 'req_none'], daemon)).code).toBe(3);
  });
});
