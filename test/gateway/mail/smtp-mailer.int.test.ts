import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SmtpConfig } from '../../../gateway/mail/mail-config.ts';
import { Password } from '../../../gateway/mail/password.ts';
import { openMailer } from '../../../gateway/mail/open-mailer.ts';
import { readMailConfig } from '../../../gateway/mail/read-mail-config.ts';
import { SmtpMailer } from '../../../gateway/mail/smtp-mailer.ts';
import type { MailResult } from '../../../gateway/mail/mailer.ts';
import { selfSigned } from '../../helpers/certificate.ts';
import { FakeSmtp } from '../../helpers/fake-smtp.ts';
import { parsedMail, valuesOf } from './parsed-mail.ts';
import { NOW } from './samples.ts';
import { hurryTime } from '../../helpers/hurried-time.ts';

beforeEach(() => hurryTime(10));

/** How long a server may take that is to be found too slow, after it was quick enough; any other one is waited for. */
const STEP_MS = 2000;
const PATIENT_MS = 600_000;
const PASSWORD = 'p@ss wörd"\\';
const login = { user: 'ann', password: PASSWORD };
const credentials = { user: 'ann', password: new Password(PASSWORD) };

const mail = {
  id: 'ntc_1',
  from: 'approvals@shop.example',
  to: 'ann@example.com',
  subject: 'Prüfung',
  text: '.\n..\nüber\n\n.',
};

let server: FakeSmtp;
let mailer: SmtpMailer;
afterEach(async () => {
  await mailer.close();
  await server.close();
});

async function open(
  options: Parameters<typeof FakeSmtp.start>[0],
  place: Partial<SmtpConfig> = {},
  ca?: string,
  stepTimeoutMs = PATIENT_MS,
): Promise<void> {
  server = await FakeSmtp.start(options);
  await connect({ port: server.port, ...place }, ca, stepTimeoutMs);
}

async function connect(
  place: Partial<SmtpConfig>,
  ca?: string,
  stepTimeoutMs = PATIENT_MS,
): Promise<void> {
  mailer = await SmtpMailer.open({
    place: {
      kind: 'smtp',
      host: '127.0.0.1',
      port: 0,
      tls: 'off',
      credentials: null,
      from: mail.from,
      ...place,
    },
    clock: { now: () => NOW },
    stepTimeoutMs,
    ...(ca !== undefined && { ca }),
  });
}

const reasonOf = (sent: MailResult): string => ('reason' in sent ? sent.reason : '');

describe('a mail to a server that is well', () => {
  it('arrives as it is, at this address and no other', async () => {
    await open({});
    const sent = await mailer.send(mail);
    expect(sent).toEqual({ outcome: 'sent', messageId: '<ntc_1@shop.example>' });
    const [received] = server.received;
    expect(received).toMatchObject({ from: mail.from, to: [mail.to] });
    const read = parsedMail(received?.raw ?? '');
    expect(valuesOf(read, 'subject')).toEqual(['Prüfung']);
    expect(valuesOf(read, 'message-id')).toEqual(['<ntc_1@shop.example>']);
    expect(read.text.trimEnd()).toBe(mail.text);
  });

  it('has the same bytes at every attempt', async () => {
    await open({});
    await mailer.send(mail);
    await mailer.send(mail);
    const [first, second] = server.received;
    expect(first?.raw).toBe(second?.raw);
  });

  it('shares a connection with others', async () => {
    await open({});
    for (const id of ['a', 'b', 'c']) await mailer.send({ ...mail, id });
    expect([server.received.length, server.connections]).toEqual([3, 1]);
    await Promise.all(Array.from({ length: 20 }, (_, n) => mailer.send({ ...mail, id: `n${n}` })));
    expect(server.received).toHaveLength(23);
    expect(server.connections).toBeLessThanOrEqual(5);
  });

  it('arrives once when the server had ended the kept connection', async () => {
    await open({});
    await mailer.send({ ...mail, id: 'a' });
    server.hangUp();
    expect(await mailer.send({ ...mail, id: 'b' })).toMatchObject({ outcome: 'sent' });
    expect(server.received).toHaveLength(2);
  });

  it('is sent by whoever may', async () => {
    await open({ login }, { credentials });
    expect(await mailer.send(mail)).toMatchObject({ outcome: 'sent' });
    expect(server.received).toHaveLength(1);
  });
});

describe('a mail that is refused', () => {
  it.each([
    ['connect', '421 4.3.2 Too busy', 'later', 421, '4.3.2'],
    ['connect', '554 5.3.2 Go away', 'later', 554, '5.3.2'],
    ['ehlo', '421 4.3.2 Closing', 'later', 421, '4.3.2'],
    ['mail', '451 4.3.0 Try again', 'later', 451, '4.3.0'],
    ['mail', '553 5.1.8 Sender unknown', 'later', 553, '5.1.8'],
    ['mail', '552 5.3.4 Too large', 'refused', 552, '5.3.4'],
    ['mail', '530 5.7.0 Log in first', 'later', undefined, undefined],
    ['rcpt', '450 4.2.1 Greylisted', 'later', 450, '4.2.1'],
    ['rcpt', '503 5.5.1 Out of step', 'later', 503, '5.5.1'],
    ['rcpt', '535 5.7.8 Log in first', 'later', undefined, undefined],
    ['rcpt', '550 5.1.1 Nobody here', 'refused', 550, '5.1.1'],
    ['rcpt', '550 Nobody at 5.1.1', 'refused', 550, null],
    ['rcpt', '550 4.1.1 Which is it', 'refused', 550, null],
    ['rcpt', '450 4.2.1.7 Not a code', 'later', 450, null],
    ['data', '451 4.3.0 Try again', 'later', 451, '4.3.0'],
    ['data', '554 5.6.0 No', 'refused', 554, '5.6.0'],
    ['end', '421 4.3.2 Closing', 'later', 421, '4.3.2'],
    ['end', '452 4.3.1 Disk full', 'later', 452, '4.3.1'],
    ['end', '550-5.7.1 This is\r\n550 5.7.1 spam', 'refused', 550, '5.7.1'],
  ] as const)('at %s with %s is %s', async (step, reply, outcome, smtpCode, enhancedCode) => {
    await open({ script: { [step]: { reply } } });
    const sent = await mailer.send(mail);
    expect(sent).toMatchObject({ outcome });
    expect('smtpCode' in sent ? sent.smtpCode : undefined).toBe(smtpCode);
    expect('enhancedCode' in sent ? sent.enhancedCode : undefined).toBe(enhancedCode);
    expect(reasonOf(sent)).toContain(reply.slice(0, 3));
    expect(reasonOf(sent)).not.toMatch(/[\r\n]/);
    expect(server.received).toEqual([]);
    // What was wrong with one mail is not wrong with the next.
    server.script = {};
    expect(await mailer.send(mail)).toMatchObject({ outcome: 'sent' });
  });

  it('is told in the words of the server, made harmless and short', async () => {
    const words = `550 \u001b[31mNo\u0007 ${'x'.repeat(5000)}`;
    await open({ script: { rcpt: { reply: words } } });
    const reason = reasonOf(await mailer.send(mail));
    expect(reason).toMatch(/^The mail server refuses the address: 550 \[31mNo x+…$/);
    expect(reason.length).toBeLessThan(300);
  });
});

describe('a server that is not well', () => {
  const steps = ['connect', 'ehlo', 'mail', 'rcpt', 'data', 'end'] as const;

  it.each(steps)('and says nothing at %s is given up in time', async (step) => {
    await open({ script: { [step]: 'hang' } }, {}, undefined, STEP_MS);
    const sent = await mailer.send(mail);
    const reason = 'The mail server does not answer in time.';
    const now = { outcome: 'later', retryAfterSeconds: null, reason };
    expect(sent).toEqual(step === 'end' ? { outcome: 'unknown', reason } : now);
  });

  it.each(['connect', 'rcpt', 'end'] as const)(
    'and never ends its reply at %s is given up as well',
    async (step) => {
      await open({ script: { [step]: 'trickle' } }, {}, undefined, STEP_MS);
      const sent = await mailer.send(mail);
      expect(reasonOf(sent)).toBe('The mail server does not answer in time.');
    },
  );

  it.each(steps)('and hangs up at %s: what became of the mail is told', async (step) => {
    await open({ script: { [step]: 'close' } });
    const sent = await mailer.send(mail);
    expect(sent.outcome).toBe(step === 'end' ? 'unknown' : 'later');
    expect(reasonOf(sent)).toMatch(/^The mail server is not there, or hung up \(\w+\)\.$/);
  });

  it('and dies after it took a mail gets it once an attempt, under the same Message-ID', async () => {
    await open({ script: { end: 'close' } });
    expect(await mailer.send(mail)).toMatchObject({ outcome: 'unknown' });
    expect(server.received).toHaveLength(1);
    server.script = {};
    expect(await mailer.send(mail)).toMatchObject({ outcome: 'sent' });
    expect(server.received).toHaveLength(2);
    const ids = server.received.map(({ raw }) => valuesOf(parsedMail(raw), 'message-id'));
    expect(ids[0]).toEqual(ids[1]);
  });

  it('or not there: the mail has to come again', async () => {
    server = await FakeSmtp.start();
    const probe = createServer();
    await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
    const { port } = probe.address() as AddressInfo;
    await new Promise((resolve) => probe.close(resolve));
    await connect({ port });
    expect(await mailer.send(mail)).toEqual({
      outcome: 'later',
      retryAfterSeconds: null,
      reason: 'The mail server is not there, or hung up (ECONNREFUSED).',
    });
  });

  it('or has no address', async () => {
    await open({}, { host: 'mail.invalid' }, undefined, STEP_MS);
    expect(reasonOf(await mailer.send(mail))).toMatch(
      /^The (name of the mail server can't be resolved|mail server does not answer)/,
    );
  });
});

describe('credentials', () => {
  const secrets = [
    PASSWORD,
    Buffer.from(PASSWORD).toString('base64'),
    Buffer.from(`\0ann\0${PASSWORD}`).toString('base64'),
  ];

  it('that are wrong have to be put right, and are not repeated by us', async () => {
    await open({ login: { user: 'ann', password: 'another' } }, { credentials });
    const sent = await mailer.send(mail);
    expect(sent).toEqual({
      outcome: 'later',
      retryAfterSeconds: null,
      reason: 'The mail server refused our login (535).',
    });
  });

  it('that are missing too', async () => {
    await open({ login });
    expect(await mailer.send(mail)).toMatchObject({
      outcome: 'later',
      reason: 'The mail server refused our login (530).',
    });
  });

  it.each(['mail', 'rcpt', 'end'] as const)(
    'are not in what is told when the server repeats them at %s',
    async (step) => {
      const reply = `451 You said ${secrets.join(' and ')}`;
      await open({ login, script: { [step]: { reply } } }, { credentials });
      const sent = await mailer.send(mail);
      expect(sent.outcome).toBe('later');
      expect(reasonOf(sent)).toContain('451 You said … and … and …');
      for (const secret of secrets) expect(JSON.stringify(sent)).not.toContain(secret);
    },
  );
});

describe('a connection that is secured', () => {
  let trusted: ReturnType<typeof selfSigned>;
  let foreign: ReturnType<typeof selfSigned>;
  beforeAll(() => {
    trusted = selfSigned('127.0.0.1');
    foreign = selfSigned('mail.example.com');
  });

  it.each(['from_start', 'starttls'] as const)('%s carries mail and password', async (mode) => {
    const tls = { mode, certificate: trusted };
    await open({ login, tls }, { tls: mode, credentials }, trusted.cert);
    expect(await mailer.send(mail)).toMatchObject({ outcome: 'sent' });
    expect(server.received).toHaveLength(1);
  });

  it.each(['from_start', 'starttls'] as const)(
    '%s carries nothing to a server that nobody vouches for',
    async (mode) => {
      const tls = { mode, certificate: trusted };
      await open({ login, tls }, { tls: mode, credentials });
      const sent = await mailer.send(mail);
      expect(sent.outcome).toBe('later');
      expect(reasonOf(sent)).toMatch(/could not be secured \(.*self.signed.*\)\.$/i);
      expect(server.commands.join('\n')).not.toMatch(/AUTH|MAIL/);
    },
  );

  it('carries nothing to a server with the certificate of another', async () => {
    const tls = { mode: 'from_start', certificate: foreign } as const;
    await open({ login, tls }, { tls: 'from_start', credentials }, foreign.cert);
    const sent = await mailer.send(mail);
    expect(reasonOf(sent)).toBe(
      'The connection to the mail server could not be secured (ERR_TLS_CERT_ALTNAME_INVALID).',
    );
    expect(server.commands).toEqual([]);
  });

  it('is not given up when the server offers none, or somebody on the way took the offer out', async () => {
    await open(
      { login, script: { starttls: { reply: '502 5.5.1 Never heard of it' } } },
      { tls: 'starttls', credentials },
    );
    const sent = await mailer.send(mail);
    expect(sent.outcome).toBe('later');
    expect(reasonOf(sent)).toMatch(/could not be secured/);
    expect(server.commands.join('\n')).not.toMatch(/AUTH|MAIL/);
  });
});

describe('a configuration', () => {
  it('leads to a server, with a password of any characters', async () => {
    await open({ login });
    const SVC_SMTP_URL = `smtp://ann:${encodeURIComponent(PASSWORD)}@127.0.0.1:${server.port}`;
    const config = readMailConfig({ SVC_SMTP_URL, SVC_MAIL_FROM: mail.from });
    const clock = { now: () => NOW };
    const chosen = await openMailer(config, { outboxFolder: '/nonexistent', clock });
    expect(await chosen.send(mail)).toMatchObject({ outcome: 'sent' });
    await chosen.close();
    expect(server.received).toHaveLength(1);
  });

  it('leads to the outbox without one', async () => {
    await open({});
    const outboxFolder = mkdtempSync(join(tmpdir(), 'svc-outbox-'));
    const clock = { now: () => NOW };
    const chosen = await openMailer(readMailConfig({}), { outboxFolder, clock });
    await chosen.send(mail);
    await chosen.close();
    expect(readdirSync(outboxFolder)).toEqual(['ntc_1.eml']);
    rmSync(outboxFolder, { recursive: true });
  });
});

describe('the end', () => {
  it('closes what is open and takes nothing more', async () => {
    await open({});
    await mailer.send(mail);
    await mailer.close();
    await expect.poll(() => server.open).toBe(0);
    expect(await mailer.send(mail)).toMatchObject({ outcome: 'later' });
  });

  it('lets a mail that is under way arrive', async () => {
    await open({});
    const sending = mailer.send(mail);
    await expect.poll(() => server.commands.length).toBeGreaterThan(0);
    await mailer.close();
    expect(await sending).toMatchObject({ outcome: 'sent' });
  });

  it('waits a few seconds at most for a server that says nothing', async () => {
    await open({ script: { end: 'hang' } }, {}, undefined, 10_000_000);
    const sending = mailer.send(mail);
    await expect.poll(() => server.commands.includes('DATA')).toBe(true);
    await mailer.close();
    expect(await sending).toMatchObject({ outcome: 'unknown' });
  });
});
