import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { expect, it, vi } from 'vitest';
import { errorResponse, identify, type HttpEnv } from '../../../shared/api/http.ts';
import { readBody } from '../../../shared/api/read-body.ts';

it('an upload that its sender broke off is not logged as an internal error', async () => {
  const logged: unknown[] = [];
  const failed: unknown[] = [];
  const begun = vi.fn<() => void>();
  const app = new Hono<HttpEnv>();
  app.use(identify);
  app.onError((error, c) => {
    failed.push(error);
    return errorResponse(error, c, (internal) => logged.push(internal));
  });
  app.post('/', async (c) => {
    begun();
    await readBody(c.env, 1000);
    throw new TypeError('a failure of ours');
  });
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    const socket = connect(port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nonly this');
    await vi.waitFor(() => expect(begun).toHaveBeenCalled(), { timeout: 60_000 });
    socket.destroy();
    await vi.waitFor(() => expect(failed).toHaveLength(1), { timeout: 60_000 });
    expect(logged).toEqual([]);
    await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'whole' });
    expect(logged).toEqual([new TypeError('a failure of ours')]);
  } finally {
    server.close();
  }
});
