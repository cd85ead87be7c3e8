import { afterEach, describe, expect, it } from 'vitest';
import type { FakeDaemon } from '../fake-daemon.ts';
import { answering, svc, type Json, type Routes } from './fake-people.ts';

const ROUTE = 'rte_01j9z3k4m5n6p7q8r9s0t1v2w3';

let daemon: FakeDaemon | undefined;
afterEach(() => daemon?.close());

async function given(routes: Routes): Promise<FakeDaemon> {
  daemon = await answering(routes);
  return daemon;
}

async function shown(line: readonly string[], routes: Routes, columns = 100): Promise<string> {
  return (await svc(line, await given(routes), { terminal: true, columns })).stdout;
}

/** The answer as it comes in a pipe: whole. */
async function piped(line: readonly string[], answer: Json): Promise<void> {
  const { stdout } = await svc(line, daemon ?? { env: {} });
  expect(JSON.parse(stdout)).toEqual(answer);
}

describe('source', () => {
  it('list shows each address whole, when something came last, and what was refused', async () => {
    const url = `http://127.0.0.1:4780/w/${'x'.repeat(60)}`;
    const source = {
      name: 'shop',
      type: 'webhook',
      verification: 'stripe',
      url,
      address: null,
      maker: 'key ci',
    };
    const mail = { ...source, name: 'mail', type: 'email', verification: 'none' };
    // Far from a full hour, however long the command takes to load.
    const lastAt = new Date(Date.now() - 3.5 * 3_600_000).toISOString();
    const items = [
      { ...source, last_event_at: lastAt, events_24h: 12, rejected_24h: 3 },
      { ...mail, address: 'shop@a.example', last_event_at: null, events_24h: 0, rejected_24h: 0 },
    ];
    const routes = { 'GET /v1/sources': { items, next_cursor: null } };
    expect((await shown(['source', 'list'], routes, 60)).split('\n')).toEqual([
      'NAME  VERIFICATION  LAST     24 H  REFUSED  ADDED BY',
      '  ADDRESS',
      'shop  stripe        3 h ago    12        3  key ci',
      `  ${url}`,
      'mail  dkim          –           0        0  key ci',
      '  shop@a.example',
      '',
    ]);
    await piped(['source', 'list'], { items, next_cursor: null });
  });

  it('list says until when a secret before the newest is taken as well', async () => {
    const url = 'http://127.0.0.1:4780/w/x';
    const source = { name: 'shop', type: 'webhook', verification: 'stripe', url, address: null };
    const until = new Date(Date.now() + 86_400_000).toISOString();
    const local = until.slice(0, 19).replace('T', ' ');
    const counts = { last_event_at: null, events_24h: 0, rejected_24h: 0 };
    const items = [
      { ...source, ...counts, previous_secret_valid_until: until },
      { ...source, ...counts, name: 'other', previous_secret_valid_until: null },
    ];
    const routes = { 'GET /v1/sources': { items, next_cursor: null } };
    expect((await shown(['source', 'list'], routes)).split('\n').slice(3)).toEqual([
      `shop also accepts its previous secret until ${local} (in 24 h).`,
      '',
    ]);
  });
});

describe('route', () => {
  const route = {
    id: ROUTE,
    callback_url: 'https://example.com/hooks',
    match_source: 'shop',
    match_type: null,
    enabled: true,
    disabled_reason: null,
    maker: 'key ci',
    created_at: '2026-01-02T00:00:00.000Z',
  };
  const ADD = ['route', 'add', 'https://example.com/hooks', '--match-source', 'shop'];
  const NOTE = "You won't see the secret again: store it where the receiver checks signatures.\n";

  it('add shows the secret once, and says so wherever it is read', async () => {
    const added = { ...route, secret: 'whsec_c2VjcmV0' };
    const fake = await given({ 'POST /v1/routes': added });
    const { stdout, stderr } = await svc(ADD, fake, { terminal: true });
    expect(stdout).toMatch(/^Events of shop go to https:\/\/example\.com\/hooks\n/);
    expect(stdout).toContain('  Secret  whsec_c2VjcmV0\n');
    expect(stdout).toContain(NOTE);
    expect(stderr).toBe('');
    expect((await svc(ADD, fake)).stderr).toBe(NOTE);
    expect((await svc([...ADD, '--json'], fake)).stderr).toBe('');
    await piped(ADD, added);
  });

  it('add says on standard error that the source is not there', async () => {
    const warnings = ['There is no source `shop` now.'];
    const added = { ...route, secret: 'whsec_c2VjcmV0', warnings };
    const fake = await given({ 'POST /v1/routes': added });
    const { stdout, stderr } = await svc(ADD, fake, { terminal: true });
    expect(stderr).toBe('Warning: There is no source `shop` now.\n');
    expect(stdout).not.toContain('Warning');
    expect((await svc([...ADD, '--json'], fake)).stderr).toBe('');
  });

  it('list shows addresses whole, and why a route takes nothing', async () => {
    const off = {
      ...route,
      id: 'rte_2',
      match_source: null,
      enabled: false,
      disabled_reason: '410',
    };
    const items = [route, off].map((one) => ({ ...one, pending: 2, dead: 0 }));
    const routes = { 'GET /v1/routes': { items, next_cursor: null } };
    expect((await shown(['route', 'list'], routes, 60)).split('\n')).toEqual([
      'ROUTE                           EVENTS  PENDING  DEAD  URL',
      `${ROUTE}  shop *        2     0`,
      '  https://example.com/hooks',
      'rte_2                           * *           2     0',
      '  https://example.com/hooks',
      'rte_2 is disabled: 410',
      'To enable it: svc route enable rte_2',
      '',
    ]);
  });

  it('disable and enable say what became of the events', async () => {
    const off = { ...route, enabled: false, disabled_reason: 'Disabled by hand.' };
    const disabled = { [`POST /v1/routes/${ROUTE}/disable`]: off };
    expect((await shown(['route', 'disable', ROUTE], disabled)).split('\n')).toEqual([
      `Disabled ${ROUTE}. Undelivered events are pending in the inbox again.`,
      `To enable it: svc route enable ${ROUTE}`,
      '',
    ]);
    const enabled = { [`POST /v1/routes/${ROUTE}/enable`]: { ...route, resumed: 2, more: false } };
    expect((await shown(['route', 'enable', ROUTE], enabled)).split('\n')).toEqual([
      'Events of shop go to https://example.com/hooks again',
      '2 returned events are being delivered now.',
      `Check progress with: svc route attempts ${ROUTE}`,
      '',
    ]);
    await piped(['route', 'enable', ROUTE], { ...route, resumed: 2, more: false });
  });

  it('attempts shows each delivery with its attempts, and what was answered on one line', async () => {
    const log = [
      {
        attempt: 2,
        at: '2026-01-02T11:59:00.000Z',
        status_code: 500,
        duration_ms: 12,
        error: 'The receiver answered 500.',
        response: `Oops\n\u001b[2J${'x'.repeat(300)}`,
      },
      {
        attempt: 1,
        at: '2026-01-02T11:58:00.000Z',
        status_code: null,
        duration_ms: 15000,
        error: 'No answer within 15 s.',
        response: null,
      },
    ];
    const delivery = {
      delivery_id: 'dlv_1',
      event_id: 'evt_1',
      event_type: 'invoice.paid',
      attempts: 2,
      next_attempt_at: null,
      log,
    };
    const items = [
      { ...delivery, status: 'dead' },
      { ...delivery, status: 'delivered', log: [] },
    ];
    const path = `GET /v1/routes/${ROUTE}/attempts`;
    const text = await shown(['route', 'attempts', ROUTE], {
      [path]: { items, next_cursor: null },
    });
    const lines = text.split('\n');
    expect(lines[0]).toBe('✗ dead  invoice.paid  evt_1  dlv_1');
    expect(lines[1]).toMatch(/^ {3}2 {2}\d+ days ago +500 +12 ms {2}Oops xxx+…$/);
    expect(lines[1]?.length).toBeLessThanOrEqual(100);
    expect(lines[2]).toMatch(/^ {3}1 {2}\d+ days ago +– +15000 ms {2}No answer within 15 s\.$/);
    expect(lines[3]).toBe('✓ delivered  invoice.paid  evt_1  dlv_1');
  });

  it.each([
    [
      { delivered: true, status_code: 200, error: null, response: 'ok' },
      0,
      '✓ Delivered: the receiver answered 200, in 7 ms\n  ok\n  evt_1\n',
    ],
    [
      { delivered: false, status_code: 500, error: null, response: '' },
      1,
      '✗ Not delivered: the receiver answered 500, in 7 ms\n  evt_1\n',
    ],
    [
      { delivered: false, status_code: null, error: 'connection refused', response: null },
      1,
      '✗ Not delivered: connection refused, in 7 ms\n  evt_1\n',
    ],
  ])('test %j', async (fields, code, text) => {
    const fake = await given({
      [`POST /v1/routes/${ROUTE}/test`]: { event_id: 'evt_1', duration_ms: 7, ...fields },
    });
    const line = ['route', 'test', ROUTE];
    expect(await svc(line, fake, { terminal: true })).toEqual({ code, stdout: text, stderr: '' });
    expect((await svc(line, fake)).code).toBe(code);
  });

  it.each([
    [{ retried: 0, more: false }, 'Nothing to retry.\n'],
    [{ retried: 1, more: false }, '1 delivery is being retried now.\n'],
    [
      { retried: 500, more: true },
      '500 deliveries are being retried now.\nThere are more: run the command again.\n',
    ],
  ])('retry %j', async (fields, text) => {
    const path = `POST /v1/routes/${ROUTE}/retry`;
    const answer = { route_id: ROUTE, ...fields };
    expect(await shown(['route', 'retry', ROUTE], { [path]: answer })).toBe(
      `${text}Check progress with: svc route attempts ${ROUTE}\n`,
    );
  });

  it('remove says what becomes of its events', async () => {
    const answer = { id: ROUTE, removed_at: route.created_at };
    const text = await shown(['route', 'remove', ROUTE], {
      [`DELETE /v1/routes/${ROUTE}`]: answer,
    });
    expect(text).toBe(`Removed ${ROUTE}. Undelivered events are pending in the inbox again.\n`);
  });
});

describe('request callback secret', () => {
  it('shows the secret by itself, and until when the one before holds', async () => {
    const at = '2026-01-02T12:00:00.000Z';
    const answer = { secret: 'whsec_c2VjcmV0', created_at: at, previous_valid_until: at };
    const line = ['request', 'callback', 'secret'];
    const text = await shown(line, { 'POST /v1/request-callback-secret': answer });
    expect(text).toMatch(
      /^whsec_c2VjcmV0\n\nYou won't see it again: .+\nThe previous secret also signs until 2026-01-02 12:00:00 \(/,
    );
    await piped(line, answer);
  });
});
