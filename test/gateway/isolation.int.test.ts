import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../shared/operations/index.ts';
import { TestGateway } from '../helpers/gateway.ts';

interface Project {
  readonly apiKey: string;
  readonly keyId: string;
  readonly eventId: string;
  readonly leaseId: string;
  readonly source: string;
  readonly url: string;
  readonly projectId: string;
}

let gateway: TestGateway;
let ours: Project;
let theirs: Project;

beforeAll(async () => {
  gateway = await TestGateway.start();
  ours = await fill(gateway.projectId, gateway.apiKey, 'ours');
  const second = await gateway.gateway.createProject({ name: 'Second', slug: 'second' });
  theirs = await fill(second.project.id, second.apiKey, 'theirs');
});
afterAll(() => gateway.stop());

async function fill(projectId: string, apiKey: string, source: string): Promise<Project> {
  const added = await gateway.call<{ url: string }>('POST', '/v1/sources', {
    key: apiKey,
    body: { type: 'webhook', name: source },
  });
  const { url } = added.body;
  const { body } = await gateway.deliver(url, `secret of ${source}`);
  const event_id = String(body['event_id']);
  const claimed = await gateway.call<{ lease_id: string }>('POST', '/v1/inbox/claim', {
    key: apiKey,
    body: { event_id },
  });
  const value = { key: apiKey, body: `secret of ${source}` };
  await gateway.call('PUT', `/v1/kv/${source}/key`, value);
  await gateway.call('PUT', `/v1/files/${source}/file`, value);
  await gateway.call('PUT', `/v1/state/${source}`, { key: apiKey, body: { state: value.body } });
  const me = await gateway.call<{ key: { id: string } }>('GET', '/v1/whoami', { key: apiKey });
  const leaseId = claimed.body.lease_id;
  return { apiKey, keyId: me.body.key.id, eventId: event_id, leaseId, source, url, projectId };
}

/** An input of each operation that names things of that project wherever it can name any. */
function inputOf(name: string, of: Project): Record<string, unknown> {
  const inputs: Record<string, Record<string, unknown>> = {
    key_revoke: { key_id: of.keyId },
    key_rotate: { key_id: of.keyId },
    source_remove: { name: of.source },
    source_sign: { name: of.source, body_base64: 'e30=' },
    inbox_list: { source: of.source },
    inbox_wait: { after: of.eventId, timeout_seconds: 1 },
    inbox_claim: { event_id: of.eventId },
    inbox_ack: { event_id: of.eventId, lease_id: of.leaseId },
    inbox_nack: { event_id: of.eventId, lease_id: of.leaseId, reason: 'x' },
    inbox_extend: { event_id: of.eventId, lease_id: of.leaseId },
    inbox_requeue: { event_id: of.eventId },
    ledger_query: { subject: of.eventId },
    kv_get: { key: `${of.source}/key` },
    kv_list: { prefix: of.source },
    kv_delete: { key: `${of.source}/key` },
    state_load: { task_id: of.source },
    file_get: { path: `${of.source}/file` },
    file_list: { prefix: of.source },
    file_delete: { path: `${of.source}/file` },
    file_url: { path: `${of.source}/file`, wait_seconds: 0 },
  };
  return inputs[name] ?? {};
}

async function request(name: string, input: Record<string, unknown>, key: string) {
  const operation = operations.find((one) => one.name === name);
  if (!operation) throw new Error(`There is no operation ${name}.`);
  const { method, path, params } = operation.rest;
  const rest = { ...input };
  const filled = path.replaceAll(/\{(\w+)\+?\}/g, (_whole, parameter: string) => {
    const field = params?.[parameter] ?? parameter;
    const value = String(rest[field]);
    delete rest[field];
    return encodeURIComponent(value);
  });
  const inQuery = method === 'GET' || method === 'DELETE';
  const query = inQuery ? `?${new URLSearchParams(rest as Record<string, string>).toString()}` : '';
  return gateway.call(method, filled + query, { key, ...(!inQuery && { body: rest }) });
}

/** Operations that neither name a thing nor show what others hold. */
const NAMELESS = new Set([
  'session_hello',
  'key_create',
  'source_add',
  'kv_set',
  'state_save',
  'file_put',
]);

/** What an answer shows of the other project, beyond what a thing that exists nowhere would. */
function shown(name: string, answer: { status: number; body: Record<string, unknown> }): unknown[] {
  if (answer.status >= 400) {
    const { code } = answer.body['error'] as { code: string };
    const nowhere = ['404 NOT_FOUND', '400 VALIDATION_FAILED'];
    return [`${answer.status} ${code}`].filter((text) => !nowhere.includes(text));
  }
  if (name === 'ledger_query') {
    // What it finds are the refusals of our own calls, which named that id.
    const items = answer.body['items'] as { key_id: string }[];
    return items.filter(({ key_id }) => key_id !== ours.keyId);
  }
  const text = JSON.stringify(answer.body);
  return [theirs.eventId, theirs.keyId].filter((id) => text.includes(id));
}

describe('a key of one project', () => {
  it.each(operations.map(({ name }) => name).filter((name) => !NAMELESS.has(name)))(
    'reaches nothing of another by %s',
    async (name) => {
      const before = await state(theirs);
      const answer = await request(name, inputOf(name, theirs), ours.apiKey);
      const text = JSON.stringify(answer.body);
      for (const secret of [theirs.url, theirs.leaseId, theirs.projectId, 'secret of theirs']) {
        expect(text).not.toContain(secret);
      }
      expect(shown(name, answer)).toEqual([]);
      expect(await state(theirs)).toEqual(before);
    },
  );

  it('names things in every operation that takes an id', () => {
    const ids = operations.filter(({ input }) =>
      Object.keys(input.shape).some((field) => /_id$|^name$|^after$/.test(field)),
    );
    const covered = ids.filter(({ name }) => Object.keys(inputOf(name, theirs)).length > 0);
    const names = ids.map(({ name }) => name).filter((name) => !NAMELESS.has(name));
    expect(covered.map(({ name }) => name)).toEqual(names);
  });

  it('may use names and ids that the other uses, each for its own', async () => {
    const same = await gateway.call('POST', '/v1/sources', {
      body: { type: 'webhook', name: 'theirs' },
    });
    expect(same.status).toBe(201);
    const a = await gateway.deliver(theirs.url, 'same', { 'webhook-id': 'same' });
    const b = await gateway.deliver(ours.url, 'same', { 'webhook-id': 'same' });
    expect([a.body['status'], b.body['status']]).toEqual(['accepted', 'accepted']);
  });
});

async function state(of: Project): Promise<unknown> {
  const key = of.apiKey;
  const list = await gateway.call('GET', '/v1/inbox?status=claimed', { key });
  const sources = await gateway.call('GET', '/v1/sources', { key });
  const ledger = await gateway.call('GET', '/v1/ledger?limit=500', { key });
  expect([list.status, sources.status, ledger.status]).toEqual([200, 200, 200]);
  return [list.body, sources.body, ledger.body];
}
