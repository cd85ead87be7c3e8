import { createHmac } from 'node:crypto';
import { cpSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect } from 'vitest';
import { readMailConfig } from '../../../gateway/mail/read-mail-config.ts';
import type { OwnVault } from '../../../gateway/lib/vault.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { Connection } from '../../../shared/store/engine/connection.ts';
import type { FakeTelegram } from '../../helpers/fake-telegram.ts';
import { temporaryFolder, TestGateway } from '../../helpers/gateway.ts';
import { linkToken } from '../../helpers/outbox.ts';
import { LOOPBACK, until, type Receiver } from '../callbacks/callback-receiver.ts';
import { TestPeople } from '../approvals/people.ts';
import { Person } from '../auth/sign-in/person.ts';
import { WebVisitor } from '../web/inbox/web-visitor.ts';

export const ANA = 'Ana.Lovelace@Example.com';
export const BO = 'bo@example.com';
export const ONCE = { 'idempotency-key': 'once' };
const SECRET = 'a secret of GitHub, and of us';
/** Of the same source, and still taken. */
export const BEFORE = 'the secret before it';
const USER = 4711;
const LARGE = JSON.stringify({ text: 'x'.repeat(300_000) });

/** What is kept of a gateway's life, to look for it in the next one. */
export interface Scenario {
  readonly projectId: string;
  readonly apiKey: string;
  /** The address of a source that checks signatures. */
  readonly hook: string;
  readonly routeSecret: string;
  /** A request that Bo was asked, and the token of the link. */
  readonly request: { readonly id: string; readonly token: string };
  /** The answer to a call under an Idempotency-Key. */
  readonly kept: unknown;
  /** A confirmed sign-in of Ana's whose project was made, and the answer to that. */
  readonly login: { readonly id: string; readonly made: unknown };
  readonly cookie: string | null;
  /** Signed with the link key. */
  readonly payloadLink: string;
  /** Not sent yet, and sent. */
  readonly mails: { readonly request: string; readonly unsent: string; readonly sent: string };
  /** The ids of channels by whom they reach. */
  readonly channels: { readonly bo: string; readonly telegram: string };
}

/** Of the people outside, who outlive a gateway. */
export interface Outside {
  readonly telegram: FakeTelegram;
  readonly receiver: Receiver;
}

export function startWith(
  folder: string,
  { telegram }: Outside,
  more: { masterKeyFile?: string; projectOf?: Scenario } = {},
): Promise<TestGateway> {
  const { token, url: apiRoot } = telegram;
  return TestGateway.start({
    folder,
    signIn: true,
    callbackAllow: LOOPBACK,
    messaging: {
      mail: readMailConfig({ SVC_MAIL_DOMAIN: 'agents.test' }),
      telegram: { token, apiRoot, mode: 'poll' },
    },
    ...more,
  });
}

/** A delivery as GitHub signs it. */
export function signed(body: string, id: string, secret = SECRET): Record<string, string> {
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  return { 'x-hub-signature-256': `sha256=${signature}`, 'x-github-delivery': id };
}

/** Has a gateway seal something in every column where something is sealed, and ends it. */
export async function live(folder: string, outside: Outside): Promise<Scenario> {
  const gateway = await startWith(folder, outside);
  const { projectId, apiKey } = gateway;
  await gateway.gateway.setOwner(projectId, ANA);
  const people = await TestPeople.of(gateway, systemClock());
  const signIns = await signInBefore(gateway);
  const cookie = await enterBefore(gateway);
  const hook = await gateway.addSource({ name: 'code', verification: 'github', secret: BEFORE });
  const rotation = { body: { secret: SECRET, previous_valid_seconds: 604_800 } };
  await gateway.call('POST', '/v1/sources/code/rotate', rotation);
  await gateway.addSource({ name: 'mail', type: 'email' });
  for (let time = 0; time < 2; time += 1) {
    await gateway.call('POST', '/v1/request-callback-secret', { body: {} });
  }
  const url = outside.receiver.url();
  const route = { callback_url: url, match_source: 'code' };
  const routed = await gateway.call<{ secret: string }>('POST', '/v1/routes', { body: route });
  const kept = await gateway.call('POST', '/v1/keys', {
    body: { name: 'kept', scopes: ['disk'] },
    headers: ONCE,
  });
  const bo = await people.activeChannel(BO, 'bo');
  await people.addChannel('never@example.com', 'never');
  const telegram = await telegramChannel(gateway, outside.telegram);
  const asked = await people.asked({ approvers: [bo] });
  const scenario = {
    projectId,
    apiKey,
    hook,
    routeSecret: routed.body.secret,
    request: { id: asked, token: await people.link(asked, bo) },
    kept: kept.body,
    login: signIns,
    cookie,
    payloadLink: await payloadLink(gateway),
    mails: await sendBefore(gateway, people),
    channels: { bo, telegram },
  };
  await gateway.stop({ keepFolder: true });
  return scenario;
}

/** Ana makes a project, and has begun another sign-in. */
async function signInBefore(gateway: TestGateway): Promise<Scenario['login']> {
  const ana = new Person(gateway, ANA);
  const id = await ana.confirmed();
  const made = await ana.create(id, {}, { headers: ONCE });
  expect(made.status).toBe(201);
  await ana.start();
  return { id, made: made.body };
}

/** Ana has the web inbox open, and a link to it unused. */
async function enterBefore(gateway: TestGateway): Promise<string | null> {
  const ana = await WebVisitor.asOwner(gateway, ANA);
  const other = new WebVisitor(gateway);
  await other.get('/ui/sign-in');
  await other.post('/ui/sign-in', { fields: { email: ANA } });
  await linkToken(gateway.folder, 'ui/sign-in', 2);
  return ana.cookie;
}

async function telegramChannel(gateway: TestGateway, telegram: FakeTelegram): Promise<string> {
  const add = async () =>
    gateway.call<{ channel?: { id: string }; start_url?: string }>('POST', '/v1/channels', {
      body: { kind: 'telegram', label: 'chat' },
    });
  let added = await add();
  while (added.status === 503) added = await add();
  const start = new URL(added.body.start_url ?? '').searchParams.get('start') ?? '';
  telegram.person(USER, 'Cy').says(`/start ${start}`);
  const id = added.body.channel?.id ?? '';
  await until(
    () => statusOf(gateway, id),
    (is) => is === 'verified',
  );
  return id;
}

export async function statusOf(gateway: TestGateway, channelId: string) {
  const { body } = await gateway.call<{ items: { id: string; status: string }[] }>(
    'GET',
    '/v1/channels',
  );
  return body.items.find(({ id }) => id === channelId)?.status;
}

/** Of an event that is too large to be shown whole. */
export async function payloadLink(gateway: TestGateway): Promise<string> {
  const hook = await gateway.addSource({ name: `large-${Date.now()}` });
  const headers = { 'content-type': 'application/json' };
  const { body } = await gateway.deliver(hook, LARGE, headers);
  const claimed = await gateway.call<{ payload_url?: string }>('POST', '/v1/inbox/claim', {
    body: { event_id: body['event_id'] },
  });
  const url = claimed.body.payload_url ?? '';
  expect([url, (await fetch(url)).status]).toEqual([expect.stringContaining('/l/'), 200]);
  return url.replace(gateway.url, '');
}

/** A mail that went out, and one that a person has to approve. */
async function sendBefore(gateway: TestGateway, people: TestPeople): Promise<Scenario['mails']> {
  interface Sent {
    readonly request_id: string;
    readonly messages: readonly { readonly message_id: string }[];
  }
  const send = async (subject: string): Promise<Sent> => {
    const body = { to: ['cy@example.com'], subject, text: 'Hi.', wait_seconds: 0 };
    return (await gateway.call<Sent>('POST', '/v1/emails', { body })).body;
  };
  const gone = await send('Gone');
  await people.decide(gone.request_id, { verb: 'approve' });
  const status = async (id: string) =>
    (await people.project.store.read((store) => store.emails.find(id)))?.status;
  const sent = gone.messages[0]?.message_id ?? '';
  await until(
    () => status(sent),
    (is) => is === 'sent',
  );
  const waiting = await send('Waiting');
  const unsent = waiting.messages[0]?.message_id ?? '';
  expect(await status(unsent)).toBe('pending');
  return { request: waiting.request_id, unsent, sent };
}

/** Every database of a data folder, the control database first. */
export function databasesIn(folder: string): string[] {
  const ids = readdirSync(join(folder, 'projects'));
  return [
    join(folder, 'control.db'),
    ...ids.map((id) => join(folder, 'projects', id, 'project.db')),
  ];
}

/** Where there are values that a vault has sealed, in whatever column of whatever table: `control login.answer`. */
export function sealedIn(folder: string, vault: OwnVault): string[] {
  return [...new Set([...sealedByDatabase(folder, vault).values()].flat())].toSorted();
}

/** The same for each database, by its path in the folder; those without any are left out. */
export function sealedByDatabase(folder: string, vault: OwnVault): Map<string, string[]> {
  // Of copies: what this process has had open is closed some time later.
  const copies = temporaryFolder();
  try {
    cpSync(folder, copies.path, { recursive: true });
    const all = databasesIn(copies.path).map(
      (path) => [relative(copies.path, path), sealedInFile(path, vault)] as const,
    );
    return new Map(all.filter(([, names]) => names.length > 0));
  } finally {
    copies.remove();
  }
}

function sealedInFile(path: string, vault: OwnVault): string[] {
  const family = path.endsWith('control.db') ? 'control' : 'project';
  const connection = new Connection(path);
  try {
    const tables = connection.all("SELECT name FROM sqlite_schema WHERE type = 'table'");
    return tables.flatMap(({ name }) =>
      connection
        .all(`SELECT * FROM "${String(name)}"`)
        .flatMap((row) => Object.entries(row))
        .filter(([, value]) => value instanceof Uint8Array && vault.hasSealed(value))
        .map(([column]) => `${family} ${String(name)}.${column}`),
    );
  } finally {
    connection.close();
  }
}
