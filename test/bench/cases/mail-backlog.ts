import { generateKeyPairSync } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { dkimSign } from 'mailauth/lib/dkim/sign.js';
import type { MailLab } from '../../helpers/mail-lab.ts';
import { newProject } from '../../helpers/team.ts';
import type { Bench, RunBench } from '../bench.ts';
import { Caller, MAIL_DOMAIN, NO_LAB, startLab, startMailGateway } from '../mail-gateway.ts';
import { buildProduct } from '../product.ts';
import { spread } from '../stats.ts';

const MAIL_BYTES = 4096;
const SENDERS = 20;
const SELECTOR = 'bench';
const PAGE = 100;
const LOOK_MS = 50;
const PATIENCE_MS = 120_000;

/** Signed mails that lie in the mailbox when the gateway starts: how many a second become events, its start included. */
export const mailBacklog: RunBench = async (bench) => {
  const mails = bench.quick ? 500 : 2000;
  const row = {
    bench: 'mail-backlog',
    what: `${mails} signed mails waiting in the mailbox become events`,
    target: { of: 'value', op: '>=', limit: 100 } as const,
  };
  const lab = await startLab(bench);
  if (!lab) return [{ ...row, skipped: NO_LAB }];
  await buildProduct(bench.progress);
  bench.progress(`signing ${mails} mails`);
  const signed = await signedMails(lab, mails);
  const rateLimiter: number[] = [];
  for (let round = 0; round < bench.rounds; round += 1) {
    rateLimiter.push(await drain(bench, lab, signed));
    bench.progress(`round ${round + 1} of ${bench.rounds}`);
  }
  return [{ ...row, value: { unit: '/s', spread: spread(rateLimiter) } }];
};

async function signedMails(lab: MailLab, count: number): Promise<string[]> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  await lab.publishKey(SELECTOR, publicKey);
  const signer = { signingDomain: MAIL_DOMAIN, selector: SELECTOR, privateKey };
  // Its types ask for one of them, its code for the other. Left to itself it takes the time twice, and a signature over
  // the turn of a second is wrong.
  const options = { ...signer, signatureData: [signer], signTime: new Date() };
  const mails: string[] = [];
  for (let number = 0; number < count; number += 1) {
    const mail = letter(number);
    const { signatures } = await dkimSign(mail, options);
    // As Postfix notes it, before the signature.
    mails.push(`X-Original-To: team@${MAIL_DOMAIN}\r\n${signatures}${mail}`);
  }
  return mails;
}

/** Mails a second, in a mailbox and for a project that are new. */
async function drain(bench: Bench, lab: MailLab, mails: readonly string[]): Promise<number> {
  const dataFolder = bench.workshop.place('mail-backlog');
  const { apiKey } = await newProject(dataFolder, 'team');
  await addSource(bench, dataFolder, apiKey);
  const user = `${dataFolder.slice(-6).toLowerCase()}@${MAIL_DOMAIN}`;
  lab.append((index) => mails[index] ?? '', mails.length, user);
  const start = performance.now();
  const gateway = await startMailGateway(bench, dataFolder, {
    SVC_IMAP_URL: `imap://${encodeURIComponent(user)}:${lab.password}@127.0.0.1:${lab.imapPort}`,
    SVC_DNS_SERVERS: lab.dnsServers.join(','),
  });
  const caller = new Caller(gateway.url, apiKey);
  const until = start + PATIENCE_MS;
  for (let done = 0; done < mails.length; done = await events(caller)) {
    if (performance.now() > until) throw new Error(`${done} of ${mails.length} mails are events.`);
    await sleep(LOOK_MS);
  }
  const seconds = (performance.now() - start) / 1000;
  await checkVerified(caller, mails.length);
  caller.close();
  await gateway.end();
  return mails.length / seconds;
}

/** Its address has to be there before its mail; a gateway without a mailbox gives it one. */
async function addSource(bench: Bench, dataFolder: string, apiKey: string): Promise<void> {
  const gateway = await startMailGateway(bench, dataFolder, {});
  const caller = new Caller(gateway.url, apiKey);
  await caller.takeMail();
  caller.close();
  await gateway.end();
}

async function events(caller: Caller): Promise<number> {
  const { items } = await caller.get<{ items: { events_24h: number }[] }>('/v1/sources');
  return items[0]?.events_24h ?? 0;
}

interface Page {
  readonly items: readonly { readonly verified: boolean }[];
  readonly next_cursor: string | null;
}

async function checkVerified(caller: Caller, wanted: number): Promise<void> {
  let verified = 0;
  for (let cursor: string | null = ''; cursor !== null;) {
    const from: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page: Page = await caller.get<Page>(`/v1/inbox?limit=${PAGE}${from}`);
    verified += page.items.filter((event) => event.verified).length;
    cursor = page.next_cursor;
  }
  if (verified !== wanted) throw new Error(`${verified} of ${wanted} mails were verified.`);
}

function letter(number: number): string {
  const head = [
    `From: Sender ${number % SENDERS} <sender-${number % SENDERS}@${MAIL_DOMAIN}>`,
    `To: team@${MAIL_DOMAIN}`,
    `Subject: Report ${number}`,
    `Date: ${new Date().toUTCString()}`,
    `Message-ID: <report-${number}@${MAIL_DOMAIN}>`,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    '',
    '',
  ].join('\r\n');
  const line = `${'Nothing out of the ordinary. '.repeat(2)}\r\n`;
  return head + line.repeat(Math.floor((MAIL_BYTES - head.length) / line.length));
}
