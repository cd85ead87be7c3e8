import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parsedMail } from '../gateway/mail/parsed-mail.ts';
import { hasMailLab, MailLab } from '../helpers/mail-lab.ts';
import { visit } from '../helpers/page-visitor.ts';
import { HostedGateway } from './hosted-gateway.ts';
import { installPackage } from './installed.ts';
import { Machine } from './machine.ts';

const SOON = { timeout: 60_000, interval: 100 };
const OWNER = 'ana@people.test';
const SHOP = 'shop@inbox.test';

const installed = await installPackage();

interface Received {
  readonly event: {
    readonly id: string;
    readonly reply_to: string | null;
    readonly payload: Record<string, unknown>;
  };
}

function textOf(raw: string): string {
  return parsedMail(raw.replaceAll(/\r?\n/g, '\r\n')).text;
}

function letter(headers: readonly string[], text: string): string {
  const all = [
    ...headers,
    `Date: ${new Date().toUTCString()}`,
    `Message-ID: <${randomUUID()}@people.test>`,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
  ];
  return `${all.join('\r\n')}\r\n\r\n${text}\r\n`;
}

describe.runIf(installed && hasMailLab())('mail of the installed gateway', () => {
  let lab: MailLab;
  /** Where the gateway runs, and where an agent works. */
  let host: Machine;
  let approvals: Machine;

  beforeAll(async () => {
    lab = await MailLab.start();
    host = new Machine(installed);
    approvals = new Machine(installed);
    const keyFile = join(host.home, 'dkim.pem');
    const { privateKey, publicKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    writeFileSync(keyFile, privateKey, { mode: 0o600 });
    await lab.publishKey('svc', publicKey);
    const gateway = await HostedGateway.start(host, {
      SVC_MAIL_DOMAIN: 'inbox.test',
      SVC_IMAP_URL: lab.imapUrl,
      SVC_SMTP_URL: lab.smtpUrl,
      SVC_MAIL_FROM: 'approvals@inbox.test',
      SVC_DKIM_KEY_FILE: keyFile,
      SVC_DKIM_SELECTOR: 'svc',
      SVC_DNS_SERVERS: lab.dnsServers.join(','),
    });
    const link = (): Promise<string> => linkIn(OWNER, /\S+\/s\/[0-9A-Za-z]+/);
    await gateway.signInBy(link, approvals, '--email', OWNER, '--create', 'Shop');
  });
  afterAll(async () => {
    await approvals.remove();
    await host.remove();
    await lab.stop();
  });

  /** The mail in somebody's mailbox with these words in it. */
  async function mailOf(user: string, words: string): Promise<string> {
    const find = (): string | undefined =>
      lab.mails('', user).find((raw) => textOf(raw).includes(words));
    return vi.waitUntil(find, SOON);
  }

  async function linkIn(user: string, pattern: RegExp): Promise<string> {
    const find = (): string | undefined =>
      lab
        .mails('', user)
        .map((raw) => pattern.exec(textOf(raw))?.[0])
        .find(Boolean);
    return vi.waitUntil(find, SOON);
  }

  it('brings what people write to the agents of a project, and says whether it is genuine', async () => {
    expect(await approvals.json('source', 'add', 'mail', '--type', 'email')).toMatchObject({
      address: SHOP,
    });
    const headers = ['From: Ben <ben@people.test>', `To: ${SHOP}`, 'Subject: My order'];
    await lab.send({ from: 'ben@people.test', to: SHOP, raw: letter(headers, 'Where is it?') });
    const { event } = await approvals.json<Received>('inbox', 'wait', '--source', 'mail');
    expect(event).toMatchObject({
      type: 'email.received',
      verified: true,
      payload: {
        from: { address: 'ben@people.test', name: 'Ben' },
        subject: 'My order',
        text: 'Where is it?\n',
        authentication: { dkim: 'pass', dmarc: 'pass' },
      },
    });
    await approvals.svc('inbox', 'claim', event.id);
    await approvals.svc('inbox', 'ack', event.id);
  });

  it('asks the owner by mail, sends what was approved signed, and knows the answer to it', async () => {
    const fields = ['--to', 'ben@people.test', '--subject', 'On its way', '--text', 'Tomorrow.'];
    const sending = approvals.start(['email', 'send', ...fields, '--wait-seconds', '90', '--json']);
    const asked = await mailOf(OWNER, 'On its way');
    const [page = ''] = /http\S+\/a\/[0-9A-Za-z]+/.exec(textOf(asked)) ?? [];
    await visit(page, { button: 'Approve' });
    const { code, err } = await sending.ended;
    expect([code, err]).toEqual([0, '']);

    const arrived = await mailOf('ben@people.test', 'Tomorrow.');
    expect(arrived).toMatch(/^DKIM-Signature:[^:]*d=inbox\.test/m);
    const messageId = /^Message-ID: (\S+)/im.exec(arrived)?.[1] ?? '';
    const back = /^Reply-To:.*?([^\s<>]+@inbox\.test)/im.exec(arrived)?.[1] ?? '';
    const headers = [
      'From: ben@people.test',
      `To: ${back}`,
      'Subject: Re: On its way',
      `In-Reply-To: ${messageId}`,
    ];
    await lab.send({ from: 'ben@people.test', to: back, raw: letter(headers, 'Thank you!') });
    const { event } = await approvals.json<Received>('inbox', 'wait', '--source', 'mail');
    expect(event.payload).toMatchObject({ text: 'Thank you!\n' });
    expect(messageId).toContain(event.reply_to);
  });
});
