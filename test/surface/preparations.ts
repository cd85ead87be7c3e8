import type { Operation } from '../../shared/kernel/operation.ts';
import { approve } from './approving.ts';
import { isTold } from './deciding.ts';
import { operationNamed, type World } from './scenario.ts';

type Json = Record<string, unknown>;

const withSource = async (world: World): Promise<void> => {
  const { example } = operationNamed('source_add');
  const added = await world.run('source_add', example);
  if (added.status !== 201 && added.status !== 409) throw new Error(JSON.stringify(added.body));
};

/** Has what the example of an operation writes stand there, written once: what reads it answers the same again. */
const withWritten =
  (name: 'kv_set' | 'state_save') =>
  async (world: World): Promise<Json> => {
    const { example } = operationNamed(name);
    const written = await world.run(name, { ...example, if_version: 0 });
    if (written.status !== 200 && written.status !== 412) {
      throw new Error(JSON.stringify(written.body));
    }
    return {};
  };

const withFile = async (world: World): Promise<Json> => {
  const { example } = operationNamed('file_put');
  const { status } = await world.run('file_get', { path: example['path'] });
  if (status === 404) await world.get('file_put', example);
  return {};
};

/** A route of this world, made when it is not there, with the delivery of one event behind it. */
async function routeTo(world: World, end: 'works' | 'breaks'): Promise<string> {
  const source = `route-${end}`;
  const { items } = await world.get('route_list', {});
  const known = (items as Json[]).find((route) => route['match_source'] === source);
  if (known) return String(known['id']);
  const callback_url = `${world.callbackUrl}/${end}`;
  const { id } = await world.get('route_add', { callback_url, match_source: source });
  await world.event(source);
  return String(id);
}

/** A route with a delivery that arrived. */
async function withDelivered(world: World): Promise<Json> {
  const route_id = await routeTo(world, 'works');
  await world.until('route_attempts', { route_id, status: 'delivered' }, hasItems);
  return { route_id };
}

/** A route that takes none of the events of others. */
async function withRoute(world: World): Promise<Json> {
  const route = { callback_url: world.callbackUrl, match_source: 'elsewhere' };
  return { route_id: (await world.get('route_add', route))['id'] };
}

/** A route with a delivery that failed a moment ago, and has its next attempt before it. */
async function withFailed(world: World): Promise<Json> {
  const route_id = await routeTo(world, 'breaks');
  await world.until('route_attempts', { route_id }, ({ items }) =>
    (items as Json[]).some(
      (one) => Date.parse(String(one['next_attempt_at'])) > Date.now() + 30_000,
    ),
  );
  return { route_id };
}

function hasItems({ items }: Json): boolean {
  return (items as unknown[]).length > 0;
}

/** A request that nobody else looks at. */
async function withOwnRequest(world: World): Promise<Json> {
  const { example } = operationNamed('ask_approval');
  const { request_id } = await world.get('ask_approval', { ...example, state_ref: 'own' });
  return { request_id };
}

/** An approval that nobody has used. */
async function withApproval(world: World): Promise<Json> {
  const { request_id } = await withOwnRequest(world);
  if (world.folder === null) throw new Error('The letters of this gateway cannot be read.');
  await approve(world, world.folder, String(request_id));
  return { request_id };
}

/** A request that waits for a person, the same each time, its letters sent. */
async function withRequest(world: World): Promise<Json> {
  const state_ref = 'preparation';
  const { items } = await world.get('request_list', { limit: 100 });
  const known = (items as Json[]).find((one) => one['state_ref'] === state_ref);
  const { example } = operationNamed('ask_approval');
  const request = known ?? (await world.get('ask_approval', { ...example, state_ref }));
  const request_id = String(request['request_id']);
  await world.until('request_status', { request_id }, isTold);
  return { request_id };
}

async function withNotificationsSent(world: World): Promise<Json> {
  await withRequest(world);
  const { example } = operationNamed('request_list');
  await world.until('request_list', example, ({ items }) => (items as Json[]).every(isTold));
  return {};
}

/** An address is a channel once. */
async function withoutChannel(world: World): Promise<Json> {
  const { label } = operationNamed('channel_add').example;
  const { items } = await world.get('channel_list', {});
  const known = (items as Json[]).find((channel) => channel['label'] === label);
  if (known) await world.get('channel_remove', { channel_id: known['id'] });
  return {};
}

async function withChannel(world: World): Promise<Json> {
  const address = 'ben@example.com';
  const { channel } = await world.get('channel_add', { kind: 'email', address, label: 'ben' });
  return { channel_id: (channel as Json)['id'] };
}

/** Somebody who is invited; another one each time, as an address is invited once. */
async function withMember(world: World): Promise<Json> {
  const email = `p-${crypto.randomUUID()}@example.com`;
  const { member } = await world.get('member_invite', { email, role: 'member' });
  return { member_id: (member as Json)['id'] };
}

const withEmailSource = async (world: World): Promise<Json> => {
  const { status, body } = await world.run('source_add', { type: 'email', name: 'mail' });
  if (status !== 201 && status !== 409) throw new Error(JSON.stringify(body));
  return {};
};

/** A mail that waits for a person, the same each time. */
async function withMail(world: World): Promise<Json> {
  await withEmailSource(world);
  const { batch_id } = await world.get('email_send', operationNamed('email_send').example);
  return { batch_id };
}

/** What each operation needs before its example can be called, and the ids that then stand in it. */
const PREPARATIONS: Readonly<Record<string, (world: World) => Promise<Json>>> = {
  key_get: async (world) => ({ key_id: await world.ownKeyId() }),
  key_revoke: async (world) => ({ key_id: (await world.newKey('disk')).id }),
  key_rotate: async (world) => ({ key_id: (await world.newKey('disk')).id }),
  source_add: async (world) => {
    await world.run('source_remove', { name: operationNamed('source_add').example['name'] });
    return {};
  },
  source_remove: async (world) => (await withSource(world), {}),
  source_get: async (world) => (await withSource(world), {}),
  source_rotate: async (world) => (await withSource(world), {}),
  source_sign: async (world) => (await withSource(world), {}),
  // The same each time: what reads it twice reads one event.
  inbox_get: async (world) => {
    const { items } = await world.get('inbox_list', { limit: 1 });
    return { event_id: (items as Json[])[0]?.['id'] ?? (await world.event()) };
  },
  inbox_link: async (world) => ({ event_id: await world.event() }),
  // Nothing more happens to an event that is dead.
  story: async (world) => {
    const { items } = await world.get('inbox_list', { status: 'dead', limit: 1 });
    return { event_id: (items as Json[])[0]?.['id'] ?? (await world.dead()) };
  },
  inbox_claim: async (world) => ({ event_id: await world.event() }),
  inbox_ack: async (world) => ({ event_id: await world.claimed() }),
  inbox_nack: async (world) => ({ event_id: await world.claimed() }),
  inbox_extend: async (world) => ({ event_id: await world.claimed() }),
  inbox_next: async (world) => (await world.event(), {}),
  inbox_requeue: async (world) => ({ event_id: await world.dead() }),
  inbox_replay: async (world) => (await world.dead(), {}),
  route_list: async (world) => (await withDelivered(world), {}),
  route_add: async ({ callbackUrl }) => ({ callback_url: callbackUrl }),
  route_remove: withRoute,
  route_disable: withRoute,
  route_enable: async (world) => {
    const input = await withRoute(world);
    await world.get('route_disable', input);
    return input;
  },
  route_attempts: withDelivered,
  route_retry: withFailed,
  route_test: withDelivered,
  request_status: withRequest,
  request_withdraw: withOwnRequest,
  request_received: withApproval,
  request_use: withApproval,
  request_list: withNotificationsSent,
  // The first has none before it.
  request_callback_secret: async (world) => (await world.get('request_callback_secret', {}), {}),
  channel_add: withoutChannel,
  channel_remove: withChannel,
  member_invite: async () => ({ email: `p-${crypto.randomUUID()}@example.com` }),
  member_role: withMember,
  member_remove: withMember,
  project_delete: async (world) => {
    const { project } = await world.get('whoami', {});
    return { name: (project as Json)['name'] };
  },
  kv_list: withWritten('kv_set'),
  kv_get: withWritten('kv_set'),
  kv_mget: withWritten('kv_set'),
  // It counts from 0 each time.
  kv_incr: async (world) => (await world.get('kv_delete', { key: 'example/count' }), {}),
  kv_touch: async (world) => {
    const key = 'example/counter';
    await world.get('kv_set', { key, value: 1 });
    return { key, ttl_seconds: 3600 };
  },
  kv_delete: withWritten('kv_set'),
  state_load: withWritten('state_save'),
  state_history: withWritten('state_save'),
  file_list: withFile,
  file_get: withFile,
  file_delete: withFile,
  file_url: withFile,
  email_send: withEmailSource,
  email_status: withMail,
  // What is done by calls: the service itself may write at any time, as when a lease runs out.
  ledger_query: async (world) => {
    if (!hasItems(await world.get('source_list', {}))) await withSource(world);
    return { op: 'source_add' };
  },
  ledger_verify: async () => ({ to_seq: 3 }),
};

/** The example of an operation in a world that is ready for it. */
export async function prepared(operation: Operation, world: World): Promise<Json> {
  const ids = await PREPARATIONS[operation.name]?.(world);
  return { ...operation.example, ...ids };
}
