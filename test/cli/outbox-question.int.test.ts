import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../../cli/run.ts';
import { MailCarrier } from '../../gateway/mail/mail-carrier.ts';
import { OutboxMailer } from '../../gateway/mail/outbox-mailer.ts';
import { opened } from '../gateway/mail/samples.ts';
import { FakeDaemon, json, refuse } from './fake-daemon.ts';
import { TextSink } from './fake-output.ts';

const LONG = `Deploy the new price list of the harbour to production ${'and more '.repeat(30)}`;

let daemon: FakeDaemon;
let pending: readonly object[];
beforeEach(async () => {
  pending = [];
  daemon = new FakeDaemon(({ url }, response) => {
    if (url.startsWith('/v1/requests?')) return json(response, { items: pending });
    if (url === '/v1/requests/req_old') return json(response, { summary: 'Drop it' });
    return refuse(response, 404, 'NOT_FOUND');
  });
  await daemon.listen();
  for (const [at, summary] of ['Drop it', LONG, 'Merge #7'].entries()) await write(at, summary);
  await write(3, 'Merge #7', true);
});
afterEach(() => daemon.close());

/** A question as the daemon writes it, a second after the one before, or a reminder of it. */
async function write(at: number, summary: string, reminds = false): Promise<void> {
  const clock = { now: () => Date.UTC(2026, 0, 2) + at * 1000 };
  const mailer = new OutboxMailer({ folder: join(daemon.folder, 'data', 'outbox'), clock });
  const carrier = new MailCarrier(mailer, { publicUrl: 'http://127.0.0.1:4780' });
  const notice = { kind: 'ask', opened: opened({ summary }), token: `t0ken${at}` } as const;
  const message = { ...notice, ...(reminds && { remindsOf: '<ntc_2@localhost>' }) };
  await carrier.send(message, { address: 'ann@example.com', id: `ntc_${at}` });
}

async function open(line: string): Promise<{ code: number; out: string; err: string }> {
  const [stdout, stderr] = [new TextSink(true, 120), new TextSink()];
  const argv = ['outbox', 'open', '--print', ...line.split(' ').filter(Boolean)];
  const env = { ...daemon.env, NO_COLOR: '1' };
  const { signal } = new AbortController();
  const code = await run(argv, { env, stdout, stderr, signal });
  return { code, out: stdout.text, err: stderr.text };
}

const link = (at: number): string => `http://127.0.0.1:4780/a/t0ken${at}\n`;

describe('svc outbox open', () => {
  it('opens the newest question that waits, and says that others do', async () => {
    pending = [{ summary: LONG }, { question: null, summary: 'Drop it' }];
    expect(await open('')).toEqual({
      code: 0,
      out: link(1),
      err: '1 more question waits: svc request list --status pending\n',
    });
  });

  it('opens the newest message where nothing waits, or what waits is not here', async () => {
    expect(await open('')).toEqual({ code: 0, out: link(3), err: '' });
    pending = [{ summary: 'Asked by Telegram' }];
    expect((await open('')).out).toBe(link(3));
  });

  it('opens what asks about a request', async () => {
    expect(await open('req_old')).toEqual({ code: 0, out: link(0), err: '' });
    expect((await open('ntc_2')).out).toBe(link(2));
    const none = await open('req_none');
    expect([none.code, none.out]).toEqual([3, '']);
  });
});
