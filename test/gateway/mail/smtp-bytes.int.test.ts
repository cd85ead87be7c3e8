import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { afterEach, describe, expect, it } from 'vitest';
import type { OutgoingMail } from '../../../gateway/mail/mailer.ts';
import { openMailer } from '../../../gateway/mail/open-mailer.ts';
import { readMailConfig } from '../../../gateway/mail/read-mail-config.ts';
import { SmtpMailer } from '../../../gateway/mail/smtp-mailer.ts';
import { FakeSmtp } from '../../helpers/fake-smtp.ts';
import { parsedMail, valuesOf } from './parsed-mail.ts';
import { NOW } from './samples.ts';

/** How long a server may take that is to be found too slow, after it was quick enough; any other one is waited for. */
const STEP_MS = 3000;
const PATIENT_MS = 600_000;

const mail = {
  id: 'msg_1',
  from: 'shop@agents.example',
  to: 'ann@example.com',
  subject: 'Your order',
  text: 'It is on its way.',
} satisfies OutgoingMail;

let server: FakeSmtp;
let mailer: SmtpMailer;
afterEach(async () => {
  await mailer.close();
  await server.close();
});

async function open(
  options: Parameters<typeof FakeSmtp.start>[0] = {},
  stepTimeoutMs = PATIENT_MS,
): Promise<void> {
  server = await FakeSmtp.start(options);
  const { port } = server;
  const place = { kind: 'smtp', host: '127.0.0.1', port, tls: 'off', credentials: null } as const;
  mailer = await SmtpMailer.open({
    place: { ...place, from: mail.from },
    clock: { now: () => NOW },
    stepTimeoutMs,
  });
}

/** What is done before a mail goes out, for as long as a test wants. */
class Gate {
  calls = 0;
  open: () => void = () => undefined;
  readonly #opened = new Promise<void>((resolve) => {
    this.open = resolve;
  });

  readonly pass = (): Promise<void> => {
    this.calls += 1;
    return this.#opened;
  };
}

const refused = () => Promise.reject(new Error('It was taken back.'));

async function until(count: () => number, wanted: number): Promise<void> {
  await expect.poll(count).toBe(wanted);
}

describe('what is done before the bytes of a mail go out', () => {
  it.each([[], ['PIPELINING']])('is done when the server is ready (%s)', async (...extensions) => {
    await open({ extensions }, 5000);
    const gate = new Gate();
    const sending = mailer.send({ ...mail, beforeData: gate.pass });
    await until(() => gate.calls, 1);
    expect(server.commands.at(-1)).toBe('DATA');
    expect(server.begun).toBe(0);
    gate.open();
    expect(await sending).toEqual({ outcome: 'sent', messageId: '<msg_1@agents.example>' });
    expect([server.received.length, gate.calls]).toEqual([1, 1]);
  });

  it('may hold the mail back', async () => {
    await open();
    expect(await mailer.send({ ...mail, beforeData: refused })).toEqual({
      outcome: 'later',
      retryAfterSeconds: null,
      reason: 'The mail was held back before any of it was sent.',
    });
    expect(server.begun).toBe(0);
    expect(await mailer.send(mail)).toMatchObject({ outcome: 'sent' });
    expect([server.begun, server.received.length]).toEqual([1, 1]);
  });

  it.each(['connect', 'mail', 'rcpt', 'data'] as const)(
    'is not done when the server refuses at %s',
    async (step) => {
      await open({ script: { [step]: { reply: '451 4.3.0 Not now' } } });
      const gate = new Gate();
      gate.open();
      expect(await mailer.send({ ...mail, beforeData: gate.pass })).toMatchObject({
        outcome: 'later',
      });
      expect(gate.calls).toBe(0);
    },
  );

  it('is over before the sender is told that the connection was lost meanwhile', async () => {
    await open({}, 5000);
    const gate = new Gate();
    let isTold = false;
    const sending = mailer.send({ ...mail, beforeData: gate.pass }).finally(() => {
      isTold = true;
    });
    await until(() => gate.calls, 1);
    server.hangUp();
    await until(() => server.open, 0);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(isTold).toBe(false);
    gate.open();
    expect(await sending).toMatchObject({ outcome: 'later' });
    expect(server.begun).toBe(0);
  });

  it('that takes longer than a server waits leaves the mail for later', async () => {
    await open({}, STEP_MS);
    const gate = new Gate();
    const sending = mailer.send({ ...mail, beforeData: gate.pass });
    await until(() => gate.calls, 1);
    await until(() => server.open, 0);
    gate.open();
    expect(await sending).toMatchObject({
      outcome: 'later',
      reason: 'The mail server does not answer in time.',
    });
    expect(server.begun).toBe(0);
  });

  it('is done once where a kept connection was lost and the mail goes over another', async () => {
    await open({}, 5000);
    await mailer.send({ ...mail, id: 'msg_0' });
    const gate = new Gate();
    const sending = mailer.send({ ...mail, beforeData: gate.pass });
    await until(() => gate.calls, 1);
    server.hangUp();
    await until(() => server.connections, 2);
    gate.open();
    expect(await sending).toMatchObject({ outcome: 'sent' });
    expect([gate.calls, server.begun, server.received.length]).toEqual([1, 2, 2]);
  });
});

describe('a mail of which bytes went out', () => {
  it.each([
    ['body', 'close'],
    ['body', 'hang'],
    ['end', 'close'],
    ['end', 'hang'],
    ['end', 'trickle'],
  ] as const)('may have arrived when the server does %s: %s', async (step, act) => {
    await open({}, STEP_MS);
    await mailer.send({ ...mail, id: 'msg_0' });
    server.script = { [step]: act };
    const sent = await mailer.send(mail);
    expect(sent).toEqual({
      outcome: 'unknown',
      reason: expect.stringMatching(
        /^The mail server (does not answer in time|.* hung up \(\w+\))\.$/,
      ),
    });
    // Also over a connection that was kept it went out once.
    expect(server.begun).toBe(2);
  });

  it('may have arrived when the process ends', async () => {
    await open({ script: { end: 'hang' } }, 60_000);
    const sending = mailer.send(mail);
    await until(() => server.begun, 1);
    await mailer.close();
    expect(await sending).toMatchObject({ outcome: 'unknown' });
  });

  it('has not when the server says so before it hangs up', async () => {
    await open({ script: { end: { reply: '451 4.3.0 Not now' } } });
    expect(await mailer.send(mail)).toMatchObject({ outcome: 'later', smtpCode: 451 });
  });
});

describe('a large mail', () => {
  const bytes = Buffer.alloc(10 * 1024 * 1024, 'not all of it the same, ');
  const large = {
    ...mail,
    attachments: [{ name: 'data.bin', contentType: 'application/octet-stream', bytes }],
  } satisfies OutgoingMail;

  it('arrives whole', async () => {
    await open({}, 15_000);
    expect(await mailer.send(large)).toMatchObject({ outcome: 'sent' });
    const body = server.received[0]?.raw.split('\r\n\r\n').at(-1)?.split('\r\n--')[0] ?? '';
    expect(Buffer.from(body, 'base64').equals(bytes)).toBe(true);
  });

  it('is not begun where the server says that it takes none of this size', async () => {
    await open({ extensions: ['SIZE 1000000'] });
    expect(await mailer.send(large)).toEqual({
      outcome: 'refused',
      reason: 'The mail is larger than the mail server accepts.',
    });
    expect(server.commands.some((line) => line.startsWith('MAIL'))).toBe(false);
    expect(await mailer.send(mail)).toMatchObject({ outcome: 'sent' });
    expect(server.commands).toContainEqual(expect.stringMatching(/^MAIL FROM:<[^>]*> SIZE=\d{3}$/));
  });

  it('waits while others of its kind are in hand', async () => {
    await open({ script: { rcpt: 'hang' } }, 15_000);
    const asked = () => server.commands.filter((line) => line.startsWith('RCPT')).length;
    const sending = Array.from({ length: 5 }, () => mailer.send(large));
    await until(asked, 4);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(asked()).toBe(4);
    server.script = { rcpt: { reply: '450 4.2.1 Not now' } };
    server.hangUp();
    await Promise.all(sending);
    expect(asked()).toBe(5);
  });
});

describe('a mail that is signed', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');

  it('is so for its own sender, over the bytes that travel', async () => {
    await open({ extensions: ['PIPELINING', 'SIZE 1000000'] });
    const { port } = server;
    const folder = mkdtempSync(join(tmpdir(), 'svc-dkim-'));
    const file = join(folder, 'key.pem');
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
    writeFileSync(file, pem, { mode: 0o600 });
    const config = readMailConfig({
      SVC_SMTP_URL: `smtp://127.0.0.1:${port}`,
      SVC_MAIL_FROM: 'svc@example.com',
      SVC_DKIM_KEY_FILE: file,
      SVC_DKIM_SELECTOR: 'svc1',
    });
    rmSync(folder, { recursive: true });
    const clock = { now: () => NOW };
    const chosen = await openMailer(config, { outboxFolder: '/nonexistent', clock });
    const attachments = [{ name: 'ä.bin', contentType: 'image/png', bytes: randomBytes(5000) }];
    await chosen.send({ ...mail, text: '.\n..\n\nüber\n\n.', html: '<p>.</p>', attachments });
    await chosen.send({ ...mail, from: 'svc@example.com' });
    await chosen.close();
    const key = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64');
    for (const [index, domain] of ['agents.example', 'example.com'].entries()) {
      const raw = server.received[index]?.raw ?? '';
      const asked: string[] = [];
      const { results } = await dkimVerify(Buffer.from(raw, 'latin1'), {
        resolver: async (name) => {
          asked.push(name);
          return [[`v=DKIM1; k=ed25519; p=${key}`]];
        },
      });
      expect(results.map(({ status }) => status.result)).toEqual(['pass']);
      expect(asked).toEqual([`svc1._domainkey.${domain}`]);
      expect(server.commands).toContain(
        `MAIL FROM:<${index === 0 ? mail.from : 'svc@example.com'}> SIZE=${raw.length}`,
      );
    }
  });
});

describe('reports about a mail', () => {
  it('go where it says, or to its sender', async () => {
    await open();
    await mailer.send({ ...mail, returnPath: 'shop+t0ken@agents.example' });
    await mailer.send(mail);
    expect(server.received.map(({ from }) => from)).toEqual([
      'shop+t0ken@agents.example',
      'shop@agents.example',
    ]);
    const senders = server.received.map(({ raw }) => valuesOf(parsedMail(raw), 'from'));
    expect(senders).toEqual([['shop@agents.example'], ['shop@agents.example']]);
  });
});
