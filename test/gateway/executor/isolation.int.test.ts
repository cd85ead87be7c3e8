import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../../shared/operations/index.ts';
import type { Operation } from '../../../shared/kernel/operation.ts';
import { TestGateway } from '../../helpers/gateway.ts';
import { isTold } from '../../surface/deciding.ts';
import { startReceiver } from '../../surface/receiver.ts';
import { World } from '../../surface/scenario.ts';
import { readMailConfig } from '../../../gateway/mail/read-mail-config.ts';
import { LOOPBACK, type Receiver } from '../callbacks/callback-receiver.ts';

type Json = Record<string, unknown>;

/** What a project has that can be named. */
interface Facts {
  readonly name: string;
  readonly keyId: string;
  readonly eventId: string;
  readonly leaseId: string;
  readonly routeId: string;
  readonly deliveryId: string;
  readonly requestId: string;
  readonly linkRequestId: string;
  readonly channelId: string;
  readonly memberId: string;
  /** A mail that came in, with a file `note.txt`. */
  readonly mailEventId: string;
  readonly batchId: string;
}

interface Project extends Facts {
  readonly world: World;
  readonly apiKey: string;
  /** What nobody else may see. */
  readonly secrets: readonly string[];
}

/** What exists in no project. */
const NOWHERE: Facts = {
  name: 'nowhere',
  keyId: 'key_00000000000000000000000000',
  eventId: 'evt_00000000000000000000000000',
  leaseId: 'lse_00000000000000000000000000',
  routeId: 'rte_00000000000000000000000000',
  deliveryId: 'dlv_00000000000000000000000000',
  requestId: 'req_00000000000000000000000000',
  linkRequestId: 'req_00000000000000000000000001',
  memberId: 'mbr_00000000000000000000000000',
  channelId: 'chn_00000000000000000000000000',
  mailEventId: 'evt_00000000000000000000000001',
  batchId: 'bat_00000000000000000000000000',
};

let gateway: TestGateway;
let receiver: Receiver;
let ours: Project;
let theirs: Project;

beforeAll(async () => {
  gateway = await TestGateway.start({
    callbackAllow: LOOPBACK,
    signIn: true,
    messaging: { mail: readMailConfig({ SVC_MAIL_DOMAIN: 'inbox.example' }), telegram: null },
  });
  receiver = await startReceiver();
  ours = await fill(gateway.projectId, gateway.apiKey, 'ours');
  const second = await gateway.gateway.createProject({ name: 'Second', slug: 'second' });
  theirs = await fill(second.project.id, second.apiKey, 'theirs');
});
afterAll(async () => {
  await gateway.stop();
  await receiver.stop();
});

/** One of each thing there is, and nothing left that would change by itself. */
async function fill(projectId: string, apiKey: string, name: string): Promise<Project> {
  const world = new World({ url: gateway.url, apiKey }, receiver.url());
  const secret = `secret of ${name}`;
  const route = { callback_url: world.callbackUrl, match_source: `${name}-routed` };
  const { id: routeId, secret: routeSecret } = await world.get('route_add', route);
  await world.event(`${name}-routed`);
  const arrived = { route_id: routeId, status: 'delivered' };
  const log = await world.until('route_attempts', arrived, hasItems);

  const url = await world.hook(name);
  const delivered = await world.deliver(url, JSON.stringify({ secret }));
  const event_id = delivered.body['event_id'];
  const { lease_id } = await world.get('inbox_claim', { event_id });
  await world.get('kv_set', { key: `${name}/key`, value: secret });
  await world.get('state_save', { task_id: name, state: secret });
  const content_base64 = Buffer.from(secret).toString('base64');
  await world.get('file_put', { path: `${name}/file`, content_base64 });

  const source = await world.get('source_add', { type: 'email', name: `${name}-mail` });
  const mail = await world.deliver(String(source['url']), mailWithNote(secret));
  const { batch_id } = await world.get('email_send', { ...LETTER, subject: secret });

  const asked = { question: secret, wait_seconds: 0 };
  const { request_id } = await world.get('ask_human', asked);
  const link = await world.get('file_url', { path: `${name}/file`, wait_seconds: 0 });
  await world.until('request_list', {}, ({ items }) => (items as Json[]).every(isTold));
  const channels = await world.get('channel_list', {});
  return {
    world,
    apiKey,
    name,
    keyId: await world.ownKeyId(),
    eventId: String(event_id),
    leaseId: String(lease_id),
    routeId: String(routeId),
    deliveryId: firstOf(log, 'delivery_id'),
    requestId: String(request_id),
    linkRequestId: String(link['request_id']),
    channelId: firstOf(channels, 'id'),
    memberId: firstOf(await world.get('member_list', {}), 'id'),
    mailEventId: String(mail.body['event_id']),
    batchId: String(batch_id),
    secrets: [secret, content_base64, projectId, apiKey, url, String(routeSecret)],
  };
}

const LETTER = { to: ['ana@example.com'], text: 'Hello.', wait_seconds: 0 };

function mailWithNote(secret: string): string {
  const lines = [
    'From: eve@example.org',
    'Subject: A note',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain; name=note.txt',
    'Content-Disposition: attachment; filename=note.txt',
    '',
    secret,
    '--b--',
    '',
  ];
  return lines.join('\r\n');
}

function hasItems({ items }: Json): boolean {
  return (items as unknown[]).length > 0;
}

function firstOf({ items }: Json, field: string): string {
  const [first] = items as Json[];
  return String(first?.[field]);
}

/** Inputs of each operation that name things of a project wherever it can name any, alone or beside our own. */
function inputsOf(name: string, of: Facts, own: Facts): readonly Json[] {
  const event = { event_id: of.eventId, lease_id: of.leaseId };
  const lease = { event_id: own.eventId, lease_id: of.leaseId };
  const asked = { approvers: [of.channelId], wait_seconds: 0 };
  const about = { event_id: of.eventId, lease_id: of.leaseId, park: true };
  const rules = [{ effect: 'deny', approvers: [of.channelId] }];
  const inputs: Readonly<Record<string, readonly Json[]>> = {
    key_get: [{ key_id: of.keyId }],
    key_revoke: [{ key_id: of.keyId }],
    key_rotate: [{ key_id: of.keyId }],
    source_remove: [{ name: of.name }],
    source_get: [{ name: of.name }],
    source_rotate: [{ name: of.name, secret: 'another-secret' }],
    source_sign: [{ name: of.name, body_base64: 'e30=' }],
    inbox_list: [{ source: of.name }, { source: of.name, status: 'claimed' }],
    inbox_wait: [{ after: of.eventId, timeout_seconds: 1 }],
    inbox_get: [{ event_id: of.eventId }],
    inbox_link: [{ event_id: of.eventId }],
    inbox_claim: [{ event_id: of.eventId }],
    inbox_ack: [event, lease, { event_id: own.eventId, spends: of.requestId }],
    inbox_nack: [
      { ...event, reason: 'x' },
      { ...lease, reason: 'x' },
      { ...event, until: ['+1h'] },
    ],
    inbox_extend: [event, lease],
    inbox_requeue: [{ event_id: of.eventId }],
    inbox_replay: [{ event_id: of.eventId }],
    story: [{ event_id: of.eventId }],
    route_remove: [{ route_id: of.routeId }],
    route_disable: [{ route_id: of.routeId }],
    route_enable: [{ route_id: of.routeId }],
    route_attempts: [{ route_id: of.routeId }],
    route_retry: [
      { route_id: of.routeId },
      { route_id: of.routeId, delivery_id: of.deliveryId },
      { route_id: own.routeId, delivery_id: of.deliveryId },
    ],
    route_test: [{ route_id: of.routeId }],
    ask_approval: [
      { action: 'a', summary: 'b', ...asked },
      { action: 'a', summary: 'b', ...about },
    ],
    ask_human: [
      { question: 'a', ...asked },
      { question: 'a', ...about },
    ],
    request_status: [{ request_id: of.requestId }, { request_id: of.linkRequestId }],
    request_withdraw: [{ request_id: of.requestId }],
    request_received: [{ request_id: of.requestId }],
    request_use: [{ request_id: of.requestId }],
    channel_remove: [{ channel_id: of.channelId }],
    member_role: [{ member_id: of.memberId, role: 'viewer' }],
    member_remove: [{ member_id: of.memberId }],
    policy_set: [{ policy: { rules }, wait_seconds: 0 }],
    kv_get: [{ key: `${of.name}/key` }, { key: `state/${of.name}` }],
    kv_mget: [{ keys: [`${of.name}/key`, `state/${of.name}`] }],
    kv_touch: [{ key: `${of.name}/key` }],
    kv_list: [{ prefix: of.name }, { prefix: of.name, values: true }],
    kv_delete: [{ key: `${of.name}/key` }],
    state_load: [{ task_id: of.name }],
    state_history: [{ task_id: of.name }],
    file_get: [{ path: `${of.name}/file` }, { path: `${of.mailEventId}/note.txt` }],
    file_list: [{ prefix: of.name }, { prefix: `${of.mailEventId}/` }],
    file_delete: [{ path: `${of.name}/file` }],
    file_url: [
      { path: `${of.name}/file`, wait_seconds: 0 },
      { path: `${own.name}/file`, approval: of.linkRequestId, wait_seconds: 0 },
    ],
    email_send: [`${of.name}/file`, `${of.mailEventId}/note.txt`].map((path) => ({
      ...LETTER,
      subject: 'Hello',
      attachments: [path],
    })),
    email_status: [{ batch_id: of.batchId }],
    ledger_query: [{ subject: of.eventId }, { subject: of.requestId }],
  };
  return inputs[name] ?? [];
}

/** What our key gets, by REST and as a tool where it is one. */
async function answersTo({ name, mcp }: Operation, input: Json): Promise<string[]> {
  const rest = await ours.world.run(name, input);
  const answers = [`${rest.status} ${JSON.stringify(rest.body)}`];
  if (mcp === false) return answers;
  const params = { name, arguments: input };
  const tool = await ours.world.call('POST', '/mcp', {
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
  });
  return [...answers, `${tool.status} ${JSON.stringify(tool.body)}`];
}

/** The same text with the things of one project in the place of those of another. */
function renamed(text: string, from: Facts, to: Facts): string {
  return Object.keys(NOWHERE).reduce((changed, fact) => {
    const name = fact as keyof Facts;
    return changed.replaceAll(from[name], to[name]);
  }, text);
}

/** An answer to our key, whether it was about things of theirs or about nothing. */
function comparable(name: string, text: string): unknown {
  // What the ledger finds are the refusals of our own calls, which named that id: entries of theirs would name their key.
  if (name === 'ledger_query') return text.includes(theirs.keyId);
  // Our own calls move our own position on.
  return renamed(text, theirs, NOWHERE).replaceAll(/"svc\/position":\d+/g, '"svc/position":0');
}

const READS = [
  ['source_list', {}],
  ['inbox_list', { status: 'pending' }],
  ['inbox_list', { status: 'claimed' }],
  ['inbox_list', { status: 'done' }],
  ['route_list', {}],
  ['request_list', {}],
  ['channel_list', {}],
  ['policy_get', {}],
  ['policy_suggest', {}],
  ['kv_list', {}],
  ['kv_get', { key: 'theirs/key' }],
  ['kv_mget', { keys: ['theirs/key'] }],
  ['state_load', { task_id: 'theirs' }],
  ['file_get', { path: 'theirs/file' }],
  ['ledger_query', { limit: 500 }],
] as const;

/** All that the other project has, as its own key sees it. */
async function state({ world, routeId }: Project): Promise<unknown> {
  const seen: unknown[] = [await world.get('route_attempts', { route_id: routeId })];
  for (const [name, input] of READS) seen.push(await world.get(name, input));
  const { events, ...usage } = await world.get('usage', {});
  // What came this minute and in these ten is less when they are over.
  const windows = /"(?:events_this_minute|bytes_these_10_minutes)":\d+/g;
  seen.push(usage, JSON.stringify(events).replaceAll(windows, ''));
  const { items } = await world.get('key_list', {});
  // When a key was last used is written down a little later.
  return [...seen, (items as Json[]).map((key) => ({ ...key, last_used_at: null }))];
}

describe('a key of one project', () => {
  const naming = operations.filter(({ name }) => inputsOf(name, NOWHERE, NOWHERE).length > 0);

  it.each(naming.map((operation) => [operation.name, operation] as const))(
    'reaches nothing of another by %s',
    async (name, operation) => {
      const before = await state(theirs);
      const there = inputsOf(name, theirs, ours);
      const nowhere = inputsOf(name, NOWHERE, ours);
      for (const [index, input] of there.entries()) {
        const answers = await answersTo(operation, input);
        expectNothingOf(theirs, answers);
        // As for a thing that exists nowhere, to the last character.
        const same = await answersTo(operation, nowhere[index] ?? {});
        expect(answers.map((text) => comparable(name, text))).toEqual(
          same.map((text) => comparable(name, text)),
        );
      }
      expect(await state(theirs)).toEqual(before);
    },
  );

  const others = operations.filter((operation) => !naming.includes(operation));

  it.each(others.map((operation) => [operation.name, operation] as const))(
    'leaves another alone by %s',
    async (name, operation) => {
      const before = await state(theirs);
      const callback = name === 'route_add' ? { callback_url: ours.world.callbackUrl } : {};
      const answers = await answersTo(operation, { ...operation.example, ...callback });
      expect(answers[0]).toMatch(/^20[01] /);
      expectNothingOf(theirs, answers);
      for (const fact of Object.keys(NOWHERE) as (keyof Facts)[]) {
        expect(answers.join()).not.toContain(theirs[fact]);
      }
      expect(await state(theirs)).toEqual(before);
    },
  );

  it('names things in every operation that takes an id', () => {
    const taking = operations.filter(({ input }) =>
      Object.keys(input.shape).some((field) =>
        /_id$|^name$|^after$|^approvers$|^approval$|^key$|^path$|^prefix$|^subject$/.test(field),
      ),
    );
    // What is made by them is ours, under whatever name.
    const making = [
      'key_create',
      'source_add',
      'kv_set',
      'kv_incr',
      'state_save',
      'file_put',
      'project_rename',
      'project_delete',
    ];
    const names = taking.map(({ name }) => name).filter((name) => !making.includes(name));
    expect(naming.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
    for (const { name, input } of taking.filter((one) => names.includes(one.name))) {
      const named = inputsOf(name, NOWHERE, NOWHERE).flatMap(Object.keys);
      const ids = Object.keys(input.shape).filter((field) => field.endsWith('_id'));
      expect([name, ids.filter((field) => !named.includes(field))]).toEqual([name, []]);
    }
  });

  it('may use names and ids that the other uses, each for its own', async () => {
    expect((await ours.world.hook('theirs')).startsWith(gateway.url)).toBe(true);
    const [a, b] = await Promise.all(
      [theirs, ours].map(async ({ world }) =>
        world.deliver(await world.hook('theirs'), 'same', { 'webhook-id': 'same' }),
      ),
    );
    expect([a?.body['status'], b?.body['status']]).toEqual(['accepted', 'accepted']);
    await ours.world.get('kv_set', { key: 'theirs/key', value: 'of ours' });
    expect(await theirs.world.get('kv_get', { key: 'theirs/key' })).toMatchObject({
      value: 'secret of theirs',
    });
  });
});

function expectNothingOf({ secrets }: Project, answers: readonly string[]): void {
  for (const secret of secrets) expect(answers.join()).not.toContain(secret);
}
