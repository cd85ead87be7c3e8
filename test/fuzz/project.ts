import { World } from '../surface/scenario.ts';
import type { Known } from './from-schema.ts';
import type { FuzzedGateway } from './fuzzed-gateway.ts';

/** Fills a project with some of everything; returns the stored values by field name. */
export async function filledProject(gateway: FuzzedGateway): Promise<Known> {
  const world = new World(gateway);
  const events = [
    await world.event(),
    await world.event(),
    await world.claimed(),
    await world.dead(),
  ];
  await world.get('kv_set', { key: 'example/counter', value: 1 });
  await world.get('state_save', { task_id: 'example-task', state: { step: 1 } });
  const content_base64 = Buffer.from('hello').toString('base64');
  await world.get('file_put', { path: 'example/hello.txt', content_base64 });
  await world.get('source_add', { type: 'email', name: 'mail' });
  const { channel } = await world.get('channel_add', {
    kind: 'email',
    address: 'ana@example.com',
    label: 'ana',
  });
  const route = await world.get('route_add', {
    callback_url: 'http://127.0.0.1:9/nobody',
    match_source: 'nowhere',
  });
  const asked = { action: 'deploy', summary: 'Deploy', wait_seconds: 0 };
  const { request_id } = await world.get('ask_approval', asked);
  const mail = { to: ['ana@example.com'], subject: 'Hello', text: 'Hello', wait_seconds: 0 };
  const { batch_id } = await world.get('email_send', mail);
  const keys = [await world.newKey('disk'), await world.newKey('inbox:read')].map(({ id }) => id);
  const channelId = (channel as { id: string }).id;
  return {
    event_id: events,
    after: events,
    batch_id: [batch_id],
    id: [...keys, route['id'], request_id, channelId],
    approval: [request_id],
    approvers: [channelId],
    name: ['open', 'mail', 'a-name'],
    source: ['open', 'mail'],
    match_source: ['open'],
    type: ['webhook', 'email', 'webhook.received', 'a.*'],
    key: ['example/counter', 'a', 'é/ü'],
    task_id: ['example-task'],
    path: ['example/hello.txt', 'disk://example/hello.txt', 'a/b'],
    attachments: ['example/hello.txt'],
    kind: ['email'],
    address: ['ben@example.com', 'ana@example.com'],
    to: ['ana@example.com'],
    email: ['ana@example.com'],
    // None of them needs a DNS lookup.
    callback_url: ['http://127.0.0.1:9/nobody', 'https://127.0.0.1/x', 'https://10.0.0.1/'],
    since: ['2026-01-02T03:04:05.678Z', '2030-01-01'],
    until: ['2030-01-02T03:04:05.678Z'],
    expires_at: ['2099-01-02T03:04:05.678Z'],
    policy: [{ rules: [] }, { rules: [{ effect: 'deny', action: 'x.*' }] }],
  };
}
