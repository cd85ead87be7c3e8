import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forwardEvent } from '../../../cli/work/forward.ts';
import type { FeedEvent } from '../../../clients/typescript/core/event-feed.ts';
import { TestGateway } from '../../helpers/gateway.ts';

let gateway: TestGateway;
let hook: string;
const got: { body: Buffer; headers: IncomingHttpHeaders }[] = [];
const receiver = createServer((request, response) => void keep(request, response));

async function keep(request: IncomingMessage, response: ServerResponse): Promise<void> {
  got.push({ body: await buffer(request), headers: request.headers });
  response.end();
}

beforeAll(async () => {
  gateway = await TestGateway.start();
  hook = await gateway.addSource({ name: 'open' });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
});
afterAll(async () => {
  receiver.closeAllConnections();
  receiver.close();
  await gateway.stop();
});

describe('svc listen --forward', () => {
  it.each([
    ['broken JSON', 'application/json', '{"a": 1,'],
    [
      'JSON with spaces and a number that is too long',
      'application/json',
      '{ "n" : 1.10 ,\n"m":12345678901234567890 }',
    ],
    ['a form', 'application/x-www-form-urlencoded', 'a=1&b=%20+&a=2'],
    ['text with a byte order mark', 'text/plain', '\ufeffHello'],
    ['no text', 'application/octet-stream', Buffer.from([0, 255, 254, 1])],
    ['nothing', 'application/json', ''],
    ['a body without a type', null, '{"no":"type"}'],
    ['more than an answer holds', 'application/json', JSON.stringify({ big: 'x'.repeat(300_000) })],
  ])('sends the bytes as they came: %s', async (_what, type, sent) => {
    const body = Buffer.from(sent);
    const answer = await fetch(hook, {
      method: 'POST',
      headers: type === null ? {} : { 'content-type': type },
      // A Blob without a type sends no Content-Type.
      body: new Blob([body]),
    });
    const { event_id } = (await answer.json()) as { event_id: string };
    const { body: event } = await gateway.call('POST', '/v1/inbox/claim', { body: { event_id } });
    const to = new URL(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`);
    await forwardEvent(to, event as unknown as FeedEvent, null, new AbortController().signal);
    const last = got.at(-1);
    expect(last?.body.equals(body)).toBe(true);
    expect(last?.headers['content-type'] ?? null).toBe(type);
  });
});
