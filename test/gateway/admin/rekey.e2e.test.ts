import { createHmac } from 'node:crypto';
import { cpSync, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { messageHash } from '../../../gateway/admin/rekey/sealed-values.ts';
import { createVault, loadMasterKey } from '../../../gateway/lib/vault.ts';
import { FakeTelegram } from '../../helpers/fake-telegram.ts';
import { withRawDatabase } from '../../helpers/database.ts';
import { temporaryFolder, type TestGateway } from '../../helpers/gateway.ts';
import { tokensOf } from '../../helpers/outbox.ts';
import { Receiver } from '../callbacks/callback-receiver.ts';
import { Person } from '../auth/sign-in/person.ts';
import { WebVisitor } from '../web/inbox/web-visitor.ts';
import { operator } from './operator.ts';
import {
  ANA,
  BEFORE,
  BO,
  databasesIn,
  live,
  ONCE,
  payloadLink,
  sealedIn,
  signed,
  startWith,
  statusOf,
  type Outside,
  type Scenario,
} from './sealed-scenario.ts';

const SEALED = [
  'control account.address',
  'control known_network.network',
  'control login.address',
  'control login.answer',
  'control membership.address',
  'control telegram_chat.chat',
  'control ui_link.address',
  'control ui_session.address',
  'project callback_secret.previous',
  'project callback_secret.secret',
  'project channel.address',
  'project idempotency.committed',
  'project meta.value',
  'project notice.token',
  'project route.secret',
  'project source.previous_secret',
  'project source.secret',
  'project source.token',
];
/** Where a key is tried when a gateway starts. */
const SAMPLE = 'control meta.value';

const root = temporaryFolder();
const data = join(root.path, 'data');
const before = join(root.path, 'before');
const newKey = join(root.path, 'new.key');
let outside: Outside;
let scenario: Scenario;
let oldKey: Uint8Array;

beforeAll(async () => {
  outside = { telegram: await FakeTelegram.start(), receiver: await Receiver.start() };
  scenario = await live(before, outside);
  oldKey = loadMasterKey(join(before, 'master.key'));
  cpSync(before, data, { recursive: true });
});
afterAll(async () => {
  await outside.telegram.stop();
  await outside.receiver.stop();
  root.remove();
});

/** The key id at the head of sealed values, as it lies in files. */
function headOf(key: Uint8Array): Uint8Array {
  return createVault(key).seal('', '').subarray(0, 5);
}

it('whatever is sealed anywhere is known here', () => {
  expect(sealedIn(data, createVault(oldKey))).toEqual(SEALED);
});

describe('another master key', () => {
  let gateway: TestGateway;
  afterAll(() => gateway?.stop({ keepFolder: true }));

  it('takes the place of the one before, of which nothing is left', async () => {
    const done = await operator(['rekey', '--new-key', newKey, '--data', data, '--json']);
    expect(done).toMatchObject({ code: 0, err: expect.stringContaining('2 of 2 projects') });
    const told = JSON.parse(done.out) as Record<string, unknown>;
    expect(told).toMatchObject({ data, projects: 2, name_key_file: null });
    const keptAs = String(told['old_key_file']);
    expect(keptAs).toMatch(/master\.key\.[0-9a-f]{8}$/);
    expect([told['values'], told['hashes']]).toEqual([expect.any(Number), expect.any(Number)]);
    expect(done.err).toContain('What stops working: links to payloads');
    const [now, kept] = [loadMasterKey(join(data, 'master.key')), loadMasterKey(keptAs)];
    expect([Buffer.from(now), Buffer.from(kept)]).toEqual([
      Buffer.from(loadMasterKey(newKey)),
      Buffer.from(oldKey),
    ]);
    for (const file of [newKey, keptAs, join(data, 'master.key')]) {
      expect(statSync(file).mode & 0o777).toBe(0o600);
    }
    expect(existsSync(join(data, 'rekeying'))).toBe(false);
    expect(sealedIn(data, createVault(oldKey))).toEqual([]);
    expect(sealedIn(data, createVault(now))).toEqual([SAMPLE, ...SEALED].toSorted());
    // Not in pages that are free now, nor in the log, either.
    for (const path of databasesIn(data).flatMap((file) => [file, `${file}-wal`])) {
      if (!existsSync(path)) continue;
      expect([path, readFileSync(path).indexOf(headOf(oldKey)) >= 0]).toEqual([path, false]);
    }
  });

  it('opens what senders and receivers know', async () => {
    gateway = await startWith(data, outside, { projectOf: scenario });
    const body = '{"action":"opened"}';
    const hook = gateway.url + new URL(scenario.hook).pathname;
    const taken = await gateway.deliver(hook, body, signed(body, 'delivery-1'));
    expect([taken.status, taken.body]).toMatchObject([200, { event_id: expect.any(String) }]);
    const rotated = '{"action":"closed"}';
    const old = await gateway.deliver(hook, rotated, signed(rotated, 'delivery-3', BEFORE));
    expect(old.status).toBe(200);
    const forged = { ...signed('{}', 'delivery-2') };
    expect((await gateway.deliver(hook, body, forged)).status).toBe(401);
    const [pushed] = await outside.receiver.came(1);
    const { 'webhook-id': id, 'webhook-timestamp': at } = pushed?.headers ?? {};
    const secret = Buffer.from(scenario.routeSecret.replace('whsec_', ''), 'base64');
    const wanted = createHmac('sha256', secret).update(`${id}.${at}.${pushed?.text}`);
    expect(pushed?.headers['webhook-signature']).toBe(`v1,${wanted.digest('base64')}`);
  });

  it('finds people by their addresses', async () => {
    const ana = new Person(gateway, ANA);
    const projects = await ana.projects(await ana.confirmed());
    expect(projects.map(({ slug }) => slug)).toEqual([expect.stringMatching(/^t-/), 'acme-shop']);
    const repeated = await ana.create(scenario.login.id, {}, { headers: ONCE });
    expect([repeated.status, repeated.body]).toEqual([201, scenario.login.made]);
    const twice = await gateway.call('POST', '/v1/channels', {
      body: { kind: 'email', address: BO, label: 'again' },
    });
    expect(twice).toMatchObject({ status: 409, body: { error: { code: 'CHANNEL_EXISTS' } } });
    const visitor = new WebVisitor(gateway);
    visitor.cookie = scenario.cookie;
    // She owns two projects, and is asked which.
    const choice = await visitor.get('/ui');
    expect([choice.status, choice.html]).toEqual([200, expect.stringContaining('/ui/p/acme-shop')]);
    const networks = withRawDatabase(join(data, 'control.db'), (raw) =>
      raw.all('SELECT network_hash FROM known_network'),
    );
    const vault = createVault(loadMasterKey(newKey));
    expect(networks).toEqual([{ network_hash: vault.sign('login|network|1|127.0.0.1') }]);
    const [, unused] = tokensOf(data, 'ui/sign-in');
    expect((await new WebVisitor(gateway).enter(`/ui/sign-in/${unused}`)).status).toBe(303);
  });

  it('decides by links that were sent before, and by the chat of a person', async () => {
    const decided = await gateway.gateway.approvals.decide(scenario.request.token, {
      verb: 'approve',
    });
    expect(decided?.opened.request.status).toBe('approved');
    expect(await statusOf(gateway, scenario.channels.telegram)).toBe('verified');
    const project = await gateway.gateway.projects.find(scenario.projectId);
    const vault = createVault(loadMasterKey(newKey));
    const text = `channel|address|1|${scenario.projectId}|telegram|4711|4711`;
    const found = await project?.store.read((s) => s.channels.findByAddress(vault.sign(text)));
    expect(found?.id).toBe(scenario.channels.telegram);
  });

  it('repeats an answer under its Idempotency-Key, and goes on with the ledger', async () => {
    const repeated = await gateway.call('POST', '/v1/keys', {
      body: { name: 'kept', scopes: ['disk'] },
      headers: ONCE,
    });
    expect(repeated.body).toEqual(scenario.kept);
    const verified = await gateway.call('POST', '/v1/ledger/verify', { body: {} });
    expect(verified.body).toMatchObject({ ok: true });
  });

  it('takes replies to mails of before and after', async () => {
    const project = await gateway.gateway.projects.find(scenario.projectId);
    const { unsent, sent } = scenario.mails;
    const rowOf = (id: string) => project?.store.read((store) => store.emails.find(id));
    const [now, then] = [createVault(loadMasterKey(newKey)), createVault(oldKey)];
    expect((await rowOf(unsent))?.token_hash).toBe(messageHash(now, scenario.projectId, unsent));
    expect((await rowOf(sent))?.token_hash).toBe(messageHash(then, scenario.projectId, sent));
  });

  it('ends the links that the key of before has signed, and signs others', async () => {
    expect((await fetch(gateway.url + scenario.payloadLink)).status).toBe(404);
    expect(await payloadLink(gateway)).toContain('/l/');
  });

  it('keeps the key of before from being used in its place', async () => {
    await gateway.stop({ keepFolder: true });
    const kept = join(root.path, 'kept.key');
    cpSync(join(before, 'master.key'), kept);
    await expect(startWith(data, outside, { masterKeyFile: kept })).rejects.toThrow(
      'the secrets in this folder were sealed with another key',
    );
    gateway = await startWith(data, outside, { projectOf: scenario });
  });
});
