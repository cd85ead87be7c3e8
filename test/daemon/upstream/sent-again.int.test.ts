import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { Upstream } from '../../../daemon/upstream/upstream.ts';
import type { Answer } from '../../../shared/kernel/executor.ts';
import { operationNamed } from '../../surface/scenario.ts';

const RUNNING = { code: 'IDEMPOTENCY_IN_PROGRESS', message: 'Running.', hint: null };

/** What a daemon makes of a gateway that answers like this. */
async function written(
  listener: RequestListener,
  idempotencyKey: string | null = null,
): Promise<Answer> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const line = { attend: () => undefined, answers: () => Promise.resolve(true) };
  const upstream = new Upstream(new URL(url), { line: () => line });
  onTestFinished(async () => {
    await upstream.close();
    server.closeAllConnections();
    server.close();
  });
  return upstream.call({
    operation: operationNamed('kv_set'),
    input: { key: 'a', value: 1 },
    caller: { agent: { label: null, platform: 'unknown', source: 'none' }, idempotencyKey },
    credentials: {
      authorization: 'Bearer x',
      agentHeader: undefined,
      userAgent: undefined,
      requestId: 'r1',
      idempotencyKey: undefined,
    },
    signal: new AbortController().signal,
  });
}

it('a write whose second try the gateway begins first is not refused because that is at work', async () => {
  const held: ServerResponse[] = [];
  const { value } = await written((_request, response) => {
    held.push(response);
    const [first, second] = held;
    if (held.length === 2) first?.writeHead(409).end(JSON.stringify({ error: RUNNING }));
    // The first try asks again.
    if (held.length === 3) second?.end('{"done":true}');
  });
  expect(value).toEqual({ done: true });
});

const again: RequestListener = (_request, response) => {
  response.setHeader('Idempotent-Replayed', 'true').end('{"done":true}');
};

it('a write that repeats an earlier one says so, to a caller who gave it a key', async () => {
  expect(await written(again, 'nightly')).toEqual({ value: { done: true }, replayed: true });
  // The daemon's own key is for its tries alone.
  expect(await written(again)).toEqual({ value: { done: true } });
});
