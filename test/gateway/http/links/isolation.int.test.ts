import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectBody } from '../../../../shared/lib/ids.ts';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { TestPeople } from '../../approvals/people.ts';

const UPLOAD_TYPE = 'application/vnd.service.upload+json';
const MIB = 1024 * 1024;

/** What leads somewhere without a key, by its kind; each path holds the body of a project's id. */
type Links = Readonly<
  Record<'hook' | 'payload' | 'upload' | 'file' | 'large' | 'approval', string>
>;

let gateway: TestGateway;
let people: TestPeople;
/** A key of another project than the one that everything here belongs to. */
let stranger: { id: string; apiKey: string };
let links: Links;
let uploadId: string;
let epoch: string;

beforeAll(async () => {
  const clock = new FakeClock();
  gateway = await TestGateway.start({ clock });
  people = await TestPeople.of(gateway, clock);
  const other = await gateway.gateway.createProject({ name: 'Other', slug: 'other' });
  stranger = { id: other.project.id, apiKey: other.apiKey };
  links = await fill();
  epoch = String((await gateway.call('GET', '/v1/replica')).body['epoch']);
  // The stranger's log is told as well: only then would one answer for the other.
  await gateway.call('GET', '/v1/replica', { key: stranger.apiKey });
});
afterAll(() => gateway.stop());

async function fill(): Promise<Links> {
  const hook = await gateway.addSource({ name: 'hooks', verification: 'none' });
  const delivered = await gateway.deliver(hook, randomBytes(300_000));
  const event_id = delivered.body['event_id'];
  const claimed = await gateway.call('POST', '/v1/inbox/claim', { body: { event_id } });
  const headers = { 'content-type': UPLOAD_TYPE };
  const opened = await gateway.call('PUT', '/v1/files/up', {
    headers,
    body: { upload: { size: 3, content_type: 'text/plain' } },
  });
  uploadId = String(opened.body['upload_id']);
  const small = { content_base64: 'aGVsbG8K' };
  await gateway.call('PUT', '/v1/files/small', { headers, body: small });
  const asked = { path: 'small', wait_seconds: 0 };
  const waiting = await gateway.call('POST', '/v1/file-urls', { body: asked });
  const approval = String(waiting.body['request_id']);
  const token = await people.link(approval);
  await people.decide(approval, { verb: 'approve' });
  const linked = await gateway.call('POST', '/v1/file-urls', { body: { ...asked, approval } });
  return {
    hook,
    payload: String(claimed.body['payload_url']),
    upload: String(opened.body['upload_url']),
    file: String(linked.body['url']),
    large: await largeFile(),
    approval: `${gateway.url}/a/${token}`,
  };
}

/** The link to a file of more than a megabyte. */
async function largeFile(): Promise<string> {
  const headers = { 'content-type': UPLOAD_TYPE };
  const upload = { size: 2 * MIB, content_type: 'text/plain' };
  const opened = await gateway.call('PUT', '/v1/files/large', { headers, body: { upload } });
  const sent = await fetch(String(opened.body['upload_url']), {
    method: 'PUT',
    headers: { 'content-type': 'text/plain' },
    body: Buffer.alloc(2 * MIB, 'x'),
  });
  expect(sent.status).toBeLessThan(300);
  const complete = { complete: opened.body['upload_id'] };
  await gateway.call('PUT', '/v1/files/large', { headers, body: complete });
  return String((await gateway.call('GET', '/v1/files/large')).body['download_url']);
}

/** How far the project of the links has come. Not its position, which goes up when the use of a key is noted. */
function replication(): Promise<unknown> {
  return people.project.store.read((store) => store.ledger.head());
}

/** What each kind of link is for. */
const METHODS: Readonly<Record<keyof Links, string>> = {
  hook: 'POST',
  payload: 'GET',
  upload: 'PUT',
  file: 'GET',
  large: 'GET',
  approval: 'GET',
};
const KINDS = Object.keys(METHODS) as (keyof Links)[];

function follow(kind: keyof Links, url: string): Promise<Response> {
  const method = METHODS[kind];
  return fetch(url, { method, ...(method !== 'GET' && { body: 'abc' }) });
}

describe('a link of one project', () => {
  it.each(KINDS)('leads nowhere under the name of another: %s', async (kind) => {
    const body = projectBody(gateway.projectId);
    const url = links[kind];
    expect(url).toContain(body);
    const before = await replication();
    const moved = await follow(kind, url.replace(body, projectBody(stranger.id)));
    expect([moved.status, await moved.text()]).toEqual([404, expect.not.stringContaining(body)]);
    expect(await replication()).toEqual(before);
  });

  it('leads somewhere under its own name', async () => {
    for (const kind of KINDS) {
      if (kind === 'upload') continue;
      expect([kind, (await follow(kind, links[kind])).status]).toEqual([kind, 200]);
    }
  });
});

describe('the key of another project', () => {
  it('completes no upload', async () => {
    const before = await replication();
    const answer = await gateway.call('PUT', '/v1/files/up', {
      key: stranger.apiKey,
      headers: { 'content-type': UPLOAD_TYPE },
      body: { complete: uploadId },
    });
    expect(answer).toMatchObject({ status: 404, body: { error: { code: 'NOT_FOUND' } } });
    expect(await replication()).toEqual(before);
  });

  it.each(['info', 'export/1', 'sync/1/1/10'])('copies nothing: %s', async (path) => {
    const own = await gateway.call('GET', '/v1/replica', { key: stranger.apiKey });
    expect(own.body['epoch']).not.toBe(epoch);
    const before = await replication();
    const response = await fetch(`${gateway.url}/v1/replica/${epoch}/${path}`, {
      headers: { authorization: `Bearer ${stranger.apiKey}` },
    });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: 'NOT_FOUND' } });
    expect(await replication()).toEqual(before);
  });

  it('is no key where the id of a project was exchanged in it', async () => {
    const mixed = stranger.apiKey.replace(projectBody(stranger.id), projectBody(gateway.projectId));
    for (const path of ['/v1/kv', '/v1/replica', '/v1/replica/changes']) {
      const answer = await gateway.call('GET', path, { key: mixed });
      expect(answer).toMatchObject({ status: 401, body: { error: { code: 'UNAUTHENTICATED' } } });
    }
  });
});
