import { connect, createServer, type AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { Upstream } from '../../../daemon/upstream/upstream.ts';
import { TestGateway } from '../../helpers/gateway.ts';
import { operationNamed } from '../../surface/scenario.ts';

it('a write that arrives after it was given up is done once with its repeat', async () => {
  const gateway = await TestGateway.start();
  const held: Buffer[] = [];
  const network = createServer((client) => {
    client.on('error', () => undefined);
    client.on('data', (bytes) => held.push(bytes));
  });
  await new Promise<void>((listening) => network.listen(0, '127.0.0.1', listening));
  const { port } = network.address() as AddressInfo;
  const silent = new Upstream(new URL(`http://127.0.0.1:${port}`));
  const open = new Upstream(new URL(gateway.url));
  onTestFinished(async () => {
    for (const upstream of [silent, open]) await upstream.close();
    network.close();
    await gateway.stop();
  });
  const call = {
    operation: operationNamed('kv_set'),
    input: { key: 'a', value: 1 },
    caller: {
      agent: { label: null, platform: 'unknown', source: 'none' },
      idempotencyKey: 'once',
    },
    credentials: {
      authorization: `Bearer ${gateway.apiKey}`,
      agentHeader: undefined,
      userAgent: undefined,
      requestId: 'r1',
      idempotencyKey: 'once',
    },
    signal: new AbortController().signal,
  } as const;
  await expect(silent.call({ ...call, timeoutMs: 500 })).rejects.toMatchObject({
    mayHaveArrived: true,
    hint: expect.stringContaining('It may have worked: repeat it with the same idempotency key.'),
  });

  const later = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  onTestFinished(() => void later.destroy());
  later.write(Buffer.concat(held));
  await expect.poll(async () => (await gateway.call('GET', '/v1/kv/a')).status).toBe(200);
  // The first one may still be at work.
  await expect.poll(() => open.call(call).catch(() => null)).toMatchObject({ value: { key: 'a' } });
  const { body } = await gateway.call<{ items: unknown[] }>('GET', '/v1/ledger?op=kv_set');
  expect(body.items).toHaveLength(1);
});
