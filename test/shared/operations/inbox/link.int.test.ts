import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestGateway } from '../../../helpers/gateway.ts';

let gateway: TestGateway;
let hook: string;

beforeAll(async () => {
  gateway = await TestGateway.start();
  hook = await gateway.addSource({ name: 'shop' });
});

afterAll(() => gateway.stop());

async function arrived(url: string, body: Uint8Array<ArrayBuffer>, type: string): Promise<string> {
  const answer = await gateway.deliver(url, body, { 'content-type': type });
  return String(answer.body['event_id']);
}

function linkOf(id: string, key?: string) {
  return gateway.call('GET', `/v1/inbox/events/${id}/link`, { ...(key !== undefined && { key }) });
}

it.each([
  ['windows-1252', Buffer.from('name=Jos\xe9', 'latin1'), 'application/x-www-form-urlencoded'],
  ['JSON that its payload shortens', Buffer.from('{ "a": 1.0, "a": 2 }'), 'application/json'],
  ['broken JSON', Buffer.from('{"a": '), 'application/json'],
  ['bytes that are no text', Buffer.from([0, 255, 10, 13, 0]), 'application/octet-stream'],
  ['nothing', Buffer.alloc(0), 'text/plain'],
  ['a body over 256 KB', Buffer.alloc(300 * 1024, 'é'), 'text/plain; charset=utf-8'],
])('the body of an event comes byte for byte: %s', async (_, body, type) => {
  const { status, body: link } = await linkOf(await arrived(hook, new Uint8Array(body), type));
  expect([status, link['size_bytes']]).toEqual([200, body.length]);
  const bytes = Buffer.from(await (await fetch(String(link['body_url']))).arrayBuffer());
  expect(bytes.equals(body)).toBe(true);
});

it('a mail says that it has no such body', async () => {
  const post = await gateway.addSource({ type: 'email', name: 'mail' });
  const mail = Buffer.from('From: ana@example.com\r\nSubject: Hello\r\n\r\nHello.\r\n');
  const { status, body } = await linkOf(
    await arrived(post, new Uint8Array(mail), 'message/rfc822'),
  );
  expect([status, JSON.stringify(body)]).toEqual([
    404,
    expect.stringContaining('Only webhooks keep the bytes'),
  ]);
});

it('a key that reads lists only gets no link', async () => {
  const wanted = { body: { name: 'reader', scopes: ['inbox:read'] } };
  const { body } = await gateway.call('POST', '/v1/keys', wanted);
  const id = await arrived(hook, new Uint8Array(Buffer.from('{}')), 'application/json');
  expect((await linkOf(id, String(body['api_key']))).status).toBe(403);
});
