import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callerGone } from '../../../shared/api/caller-gone.ts';

const server = createServer();
beforeEach(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
});

async function request() {
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => undefined);
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const [, outgoing] = (await once(server, 'request')) as [unknown, ServerResponse];
  return { client, outgoing };
}

describe('a caller', () => {
  it('that left before the wait began is known to be gone at once', async () => {
    const { client, outgoing } = await request();
    client.destroy();
    await once(outgoing, 'close');
    expect(callerGone(outgoing).signal.aborted).toBe(true);
  });

  it('that leaves during the wait is gone then, and not when nobody waits any more', async () => {
    const { client, outgoing } = await request();
    const waiting = callerGone(outgoing);
    const over = callerGone(outgoing);
    over.stop();
    expect(waiting.signal.aborted).toBe(false);
    client.destroy();
    await once(outgoing, 'close');
    expect(waiting.signal.aborted).toBe(true);
    expect(over.signal.aborted).toBe(false);
  });
});
