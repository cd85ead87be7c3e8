import { rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeSmtp } from '../../../helpers/fake-smtp.ts';
import { FakeClock } from '../../../helpers/gateway.ts';
import { startGatewayProcess, type GatewayProcess } from '../../server/gateway-process.ts';
import { DOMAIN, TestSending, type Batch } from './sending.ts';

/** For what another process sends and writes down. */
const PATIENCE = { timeout: 60_000 };

let smtp: FakeSmtp;
beforeEach(async () => {
  smtp = await FakeSmtp.start();
});
afterEach(() => smtp.close());

describe('a process that is killed while it sends', () => {
  let folder = '';
  let key = '';
  let gateway: GatewayProcess | null = null;
  beforeEach(async () => {
    const setup = await TestSending.start({ clock: new FakeClock(Date.now()) });
    await setup.allowAll();
    folder = setup.gateway.folder;
    key = setup.gateway.apiKey;
    await setup.stop({ keepFolder: true });
    await start();
  });
  afterEach(async () => {
    await gateway?.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  async function start(): Promise<void> {
    gateway = await startGatewayProcess(folder, 8, {
      SVC_SMTP_URL: `smtp://127.0.0.1:${smtp.port}?tls=off`,
      SVC_MAIL_FROM: `svc@${DOMAIN}`,
      SVC_MAIL_DOMAIN: DOMAIN,
    });
  }

  async function killed(): Promise<void> {
    await gateway?.kill();
    smtp.hangUp();
    await start();
  }

  async function call<T>(path: string, body?: Record<string, unknown>): Promise<T> {
    const response = await fetch(`${gateway?.url}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    return (await response.json()) as T;
  }

  const send = async (to: readonly string[]): Promise<string> =>
    (await call<Batch>('/v1/emails', { to, subject: 'Hello', text: 'Hi.' })).batch_id;

  async function ended(id: string): Promise<Batch['messages']> {
    const look = () => call<Batch>(`/v1/emails/${id}`);
    await expect.poll(async () => (await look()).status, PATIENCE).not.toBe('queued');
    return (await look()).messages;
  }

  it('says that nobody knows, where the server had the mail', async () => {
    smtp.script = { end: 'hang' };
    const id = await send(['ana@example.com']);
    await expect.poll(() => smtp.received.length, PATIENCE).toBe(1);
    smtp.script = {};
    await killed();
    expect(await ended(id)).toMatchObject([
      {
        status: 'failed',
        error: {
          code: 'unknown',
          message:
            'The service stopped while it was handed over: it may have arrived. It was not sent again.',
        },
      },
    ]);
    const events = await call<{ items: unknown[] }>('/v1/inbox?type=email.failed');
    expect(events.items).toMatchObject([
      { payload: { to: 'ana@example.com', code: 'unknown', smtp_code: null } },
    ]);
    // One that is started once more tells it no second time.
    await killed();
    await ended(await send(['bo@example.com']));
    expect(smtp.received.map(({ to }) => to[0])).toEqual(['ana@example.com', 'bo@example.com']);
    expect(await call('/v1/inbox?type=email.failed')).toMatchObject({ items: [{}] });
  });

  it('sends once what the server did not have', async () => {
    smtp.script = { data: 'hang' };
    const id = await send(['ana@example.com']);
    await expect.poll(() => smtp.commands.includes('DATA'), PATIENCE).toBe(true);
    smtp.script = {};
    await killed();
    expect(await ended(id)).toMatchObject([{ status: 'sent' }]);
    expect(smtp.received).toHaveLength(1);
  });

  it('never sends one of many twice, whenever it was killed', async () => {
    const to = Array.from({ length: 45 }, (_, index) => `a${index}@example.com`);
    const id = await send(to);
    for (const count of [1, 12]) {
      await expect
        .poll(() => smtp.received.length, { ...PATIENCE, interval: 1 })
        .toBeGreaterThanOrEqual(count);
      await killed();
    }
    const messages = await ended(id);
    const received = smtp.received.map((mail) => mail.to[0]);
    expect(new Set(received).size).toBe(received.length);
    const sent = messages.filter(({ status }) => status === 'sent');
    const unsure = messages.filter(({ error }) => error?.code === 'unknown');
    expect(sent.length + unsure.length).toBe(45);
    expect(received).toEqual(expect.arrayContaining(sent.map((one) => one.to)));
    // At most what is under way at once, each time.
    expect(unsure.length).toBeLessThanOrEqual(2 * 16);
  });
});
