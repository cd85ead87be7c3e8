import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { visit } from '../../helpers/page-visitor.ts';
import { hasMailLab, MailLab } from '../../helpers/mail-lab.ts';
import { freePort } from '../../helpers/programs.ts';
import { newProject, TeamGateway, type TeamProject } from '../../helpers/team.ts';
import { parsedMail } from './parsed-mail.ts';

type Json = Record<string, unknown>;

const SELECTOR = 'svc';
const ADDRESS = 'team@inbox.test';

const ready = hasMailLab();
const folder = temporaryFolder();
let lab: MailLab;
let gateway: TeamGateway;
let project: TeamProject;

beforeAll(async () => {
  if (!ready) return;
  lab = await MailLab.start();
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  await lab.publishKey(SELECTOR, publicKey);
  const keyFile = join(folder.path, 'dkim.pem');
  writeFileSync(keyFile, privateKey, { mode: 0o600 });
  const dataFolder = join(folder.path, 'gateway');
  project = await newProject(dataFolder, 'team', 'owner@people.test');
  gateway = await TeamGateway.start({
    dataFolder,
    listen: `127.0.0.1:${await freePort()}`,
    env: {
      SVC_MAIL_DOMAIN: 'inbox.test',
      SVC_IMAP_URL: lab.imapUrl,
      SVC_SMTP_URL: lab.smtpUrl,
      SVC_MAIL_FROM: 'approvals@inbox.test',
      SVC_DKIM_KEY_FILE: keyFile,
      SVC_DKIM_SELECTOR: SELECTOR,
      SVC_DNS_SERVERS: lab.dnsServers.join(','),
    },
  });
  await call('POST', '/v1/sources', { type: 'email', name: 'mail' });
});
afterAll(async () => {
  if (ready) {
    await gateway.end();
    await lab.stop();
  }
  folder.remove();
});

async function call(method: string, path: string, body?: object): Promise<Json> {
  const response = await fetch(gateway.url + path, {
    method,
    headers: { authorization: `Bearer ${project.apiKey}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return (await response.json()) as Json;
}

/** The next event, claimed and done with. */
async function nextEvent(): Promise<Json> {
  const { event } = await call('GET', '/v1/inbox/wait?timeout_seconds=60');
  const event_id = (event as Json | null)?.['id'];
  const claimed = await call('POST', '/v1/inbox/claim', { event_id });
  await call('POST', '/v1/inbox/ack', { event_id });
  return claimed;
}

async function untilSent(batch: Json): Promise<Json> {
  for (;;) {
    const seen = await call('GET', `/v1/emails/${String(batch['batch_id'])}`);
    if (seen['status'] !== 'queued') return seen;
    await new Promise((wait) => setTimeout(wait, 50));
  }
}

function message(fields: Readonly<Record<string, string>>, text: string): string {
  const headers: Record<string, string> = {
    From: 'Ana <ana@people.test>',
    To: ADDRESS,
    Subject: 'Hello',
    Date: new Date().toUTCString(),
    'Message-ID': `<${randomUUID()}@people.test>`,
    'MIME-Version': '1.0',
    'Content-Type': 'text/plain; charset=utf-8',
    ...fields,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${lines.join('')}\r\n${text.replaceAll('\n', '\r\n')}`;
}

function header(raw: string, name: string): string {
  const unfolded = raw.replaceAll(/\r?\n[ \t]+/g, ' ');
  return new RegExp(`^${name}: (.*?)\\r?$`, 'im').exec(unfolded)?.[1] ?? '';
}

async function sendTo(to: string, subject: string): Promise<Json> {
  const wanted = { to: [to], subject, text: `${subject}: how are you?`, wait_seconds: 0 };
  const batch = await call('POST', '/v1/emails', wanted);
  return untilSent(batch);
}

/** The mail in somebody's mailbox with this subject. */
function mailOf(user: string, subject: string): Promise<string> {
  return anyMailOf(user, (raw) => header(raw, 'Subject') === subject);
}

function anyMailOf(user: string, fits = (_raw: string): boolean => true): Promise<string> {
  return mailIn('', fits, user);
}

/** The first mail that fits, once it lies in a folder of a mailbox: of that for all unless told otherwise. */
async function mailIn(
  name: string,
  fits: (raw: string) => boolean,
  user?: string,
): Promise<string> {
  for (;;) {
    const found = lab.mails(name, user).find(fits);
    if (found !== undefined) return found;
    await new Promise((wait) => setTimeout(wait, 100));
  }
}

describe.runIf(ready)('mail that comes in', () => {
  it('comes to the address that the source has', async () => {
    const { items } = await call('GET', '/v1/sources');
    expect(items).toMatchObject([{ type: 'email', address: ADDRESS }]);
  });

  it('is verified when the domain of its sender has signed it', async () => {
    await lab.send({ from: 'ana@people.test', to: ADDRESS, raw: message({}, 'Good morning.\n') });
    const event = await nextEvent();
    expect(event).toMatchObject({
      source: 'mail',
      channel: 'email',
      type: 'email.received',
      verified: true,
      trust: 'external_untrusted',
      reply_to: null,
      payload: {
        from: { address: 'ana@people.test', name: 'Ana' },
        subject: 'Hello',
        text: 'Good morning.\n',
        authentication: { dkim: 'pass', dmarc: 'pass', spf: 'none', aligned: true },
      },
    });
  });

  it('is not when nobody has signed it, whatever it claims', async () => {
    const claims = {
      From: 'boss@signed-nowhere.test',
      'Authentication-Results': 'mx.inbox.test; dkim=pass header.d=people.test; dmarc=pass',
    };
    await lab.send({ from: 'mallory@other.test', to: ADDRESS, raw: message(claims, 'Pay me.\n') });
    const event = await nextEvent();
    expect(event).toMatchObject({ type: 'email.received', verified: false });
    expect(event['payload']).toMatchObject({ authentication: { aligned: false } });
  });

  it('is not when it was changed behind the signature', async () => {
    await lab.send({ from: 'ana@people.test', to: ADDRESS, raw: message({}, 'Pay 10 euro.\n') });
    await nextEvent();
    // A mail is put there after its event can be seen.
    const signed = await mailIn('svc-done', (raw) => raw.includes('Pay 10 euro.'));
    const id = `<${randomUUID()}@people.test>`;
    const changed = signed.replace('Pay 10 euro.', 'Pay 99 euro.');
    lab.append(changed.replace(/^Message-ID: .*$/im, `Message-ID: ${id}`));
    const event = await nextEvent();
    expect(event).toMatchObject({ verified: false, payload: { message_id: id } });
  });

  it('is kept apart when it is for nobody here', async () => {
    const raw = message({ To: 'nobody@inbox.test', Subject: 'Who?' }, 'Is there anybody?\n');
    await lab.send({ from: 'ana@people.test', to: 'nobody@inbox.test', raw });
    await mailIn('svc-unknown', (one) => one.includes('Is there anybody?'));
    const { items } = await call('GET', '/v1/inbox');
    expect(items).toEqual([]);
  });
});

describe.runIf(ready)('mail that goes out', () => {
  beforeAll(async () => {
    await allowEverything();
  });

  it('is signed, verified where it arrives, and its answer knows it', async () => {
    const sent = await sendTo('ben@people.test', 'A question');
    expect(sent).toMatchObject({ status: 'sent', messages: [{ status: 'sent' }] });
    const [{ message_id }] = sent['messages'] as [{ message_id: string }];
    const arrived = await mailOf('ben@people.test', 'A question');
    expect(header(arrived, 'From')).toContain(ADDRESS);
    expect(header(arrived, 'Message-ID')).toBe(`<${message_id}@inbox.test>`);
    expect(header(arrived, 'DKIM-Signature')).toContain('d=inbox.test');

    const back = header(arrived, 'Reply-To');
    const answer = {
      From: 'ben@people.test',
      To: back,
      Subject: 'Re: A question',
      'In-Reply-To': header(arrived, 'Message-ID'),
      References: header(arrived, 'Message-ID'),
    };
    const to = /[^\s<>]+@inbox\.test/.exec(back)?.[0] ?? '';
    await lab.send({ from: 'ben@people.test', to, raw: message(answer, 'I am well.\n\n> how?\n') });
    expect(await nextEvent()).toMatchObject({
      type: 'email.received',
      verified: true,
      reply_to: message_id,
      payload: { text_stripped: 'I am well.' },
    });
  });

  it('comes back as a bounce that Postfix wrote', async () => {
    const sent = await sendTo('gone@bounce.test', 'Are you there?');
    const [{ message_id }] = sent['messages'] as [{ message_id: string }];
    const event = await nextEvent();
    expect(event).toMatchObject({
      source: 'service',
      type: 'email.bounced',
      trust: 'service',
      payload: {
        message_id,
        to: 'gone@bounce.test',
        subject: 'Are you there?',
        stage: 'dsn',
        enhanced_code: '5.1.1',
        bounce_type: 'hard',
      },
    });
    expect(await sendTo('gone@bounce.test', 'Once more')).toMatchObject({
      messages: [{ status: 'failed', error: { code: 'suppressed' } }],
    });
    expect(await nextEvent()).toMatchObject({ type: 'email.failed' });
  });

  it('verifies when it comes to another project of the same gateway', async () => {
    const sent = await sendTo(`somebody@people.test`, 'Signed by us');
    expect(sent).toMatchObject({ status: 'sent' });
    const arrived = await mailOf('somebody@people.test', 'Signed by us');
    lab.append(
      arrived
        .replace(/^(X-Original-To|Delivered-To): .*\r?\n/gim, '')
        .replace(/^/, `X-Original-To: ${ADDRESS}\r\n`),
    );
    expect(await nextEvent()).toMatchObject({
      verified: true,
      payload: { from: { address: ADDRESS }, auto_submitted: true },
    });
  });
});

/** The owner gets a message through the same servers, and approves a policy on its page. */
async function allowEverything(): Promise<void> {
  const rules = [{ id: 'all', effect: 'allow', tool: 'email_send' }];
  await call('PUT', '/v1/policy', { policy: { rules }, wait_seconds: 0 });
  const asking = await anyMailOf('owner@people.test');
  expect(header(asking, 'DKIM-Signature')).toContain('d=inbox.test');
  const [link = ''] =
    /http:\/\/\S+\/a\/[0-9A-Za-z]+/.exec(parsedMail(asking.replaceAll(/\r?\n/g, '\r\n')).text) ??
    [];
  expect(await visit(link, { button: 'Approve' })).toContain('Approved');
  expect(await nextEvent()).toMatchObject({ type: 'request.resolved' });
}
