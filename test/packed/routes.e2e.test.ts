import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installPackage } from './installed.ts';
import { Machine } from './machine.ts';

const SOON = { timeout: 60_000 };
const GITHUB_SECRET = 'a secret that GitHub knows';
const PUSH = JSON.stringify({ ref: 'refs/heads/main', commits: [{ message: 'packed' }] });

const installed = await installPackage();

interface Pushed {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

describe.runIf(installed)('a webhook on its way through the installed package', () => {
  let machine: Machine;
  let receiver: Server;
  let hook: string;
  let secret: string;
  let route: string;
  const pushed: Pushed[] = [];

  beforeAll(async () => {
    receiver = createServer((...exchange) => void take(...exchange)).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    machine = new Machine(installed, { SVC_CALLBACK_ALLOW: '127.0.0.0/8' });
    await machine.svc('up', '--port', '0');
    const signed = ['--verification', 'github', '--secret', GITHUB_SECRET];
    ({ url: hook } = await machine.json<{ url: string }>('source', 'add', 'github', ...signed));
    const callback = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
    ({ id: route, secret } = await machine.json<{ id: string; secret: string }>(
      'route',
      'add',
      callback,
      '--match-type',
      'push',
    ));
  });
  afterAll(async () => {
    await machine.remove();
    receiver.close();
  });

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    pushed.push({ headers: request.headers, body: await text(request) });
    response.writeHead(204).end();
  }

  function deliver(body: string, key: string): Promise<Response> {
    const signature = createHmac('sha256', key).update(body).digest('hex');
    return fetch(hook, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        'x-github-event': 'push',
        'x-github-delivery': '7d0e2b3c-0000-4000-8000-000000000001',
        'x-hub-signature-256': `sha256=${signature}`,
      },
    });
  }

  it('is pushed to a route, signed as Standard Webhooks verifies it', async () => {
    expect((await deliver(PUSH, GITHUB_SECRET)).ok).toBe(true);
    await expect.poll(() => pushed.length, SOON).toBe(1);
    const [{ headers, body } = { headers: {}, body: '' }] = pushed;
    const event = new Webhook(secret).verify(body, headers as Record<string, string>);
    expect(event).toMatchObject({ type: 'push', payload: JSON.parse(PUSH) as object });
    // It is written down after the receiver has answered.
    await expect
      .poll(() => machine.json('route', 'attempts', route), SOON)
      .toMatchObject({ items: [{ status: 'delivered' }] });
  });
});
