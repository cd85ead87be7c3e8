import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  AuthenticationError,
  ConflictError,
  ConnectionError,
  NotFoundError,
  ValidationError,
} from '../../../clients/typescript/errors.ts';
import { Svc } from '../../../clients/typescript/svc.ts';
import { promised } from './promised.ts';
import { LossyProxy } from '../../helpers/lossy-proxy.ts';
import { TestGateway } from '../../helpers/gateway.ts';
import { freePort } from '../../helpers/programs.ts';

let test: TestGateway;
let svc: Svc;
beforeAll(async () => {
  test = await TestGateway.start();
  svc = new Svc({ apiKey: test.apiKey, gateway: test.url, note: () => undefined });
});
afterAll(() => test.stop());

describe('a call', () => {
  it('puts every field where its route has it', async () => {
    expect(await svc.kv.set({ key: 'a/b c', value: { n: 1 }, ttl_seconds: 60 })).toMatchObject({
      key: 'a/b c',
      version: 1,
    });
    expect(await svc.kv.get({ key: 'a/b c' })).toMatchObject({ value: { n: 1 } });
    expect(await svc.state.save({ task_id: 't/1', state: { step: 2 } })).toMatchObject({
      task_id: 't/1',
    });
    const source = await svc.source.add({ name: 'shop', type: 'webhook' });
    expect(source.url).toContain('/w/');
    expect(await svc.source.remove({ name: 'shop' })).toMatchObject({ name: 'shop' });
    expect((await svc.whoami()).server.version).toBe('0.1.0');
  });

  it('replaces nothing without its content', async () => {
    await svc.kv.set({ key: 'kept', value: { n: 1 } });
    await svc.file.write('kept.txt', 'text');
    for (const input of [{ key: 'kept' }, { key: 'kept', value: undefined }]) {
      await expect(svc.kv.set(input)).rejects.toMatchObject({
        code: 'VALIDATION_FAILED',
        details: { fields: [{ path: 'value' }] },
      });
    }
    const untyped = { path: 'kept.txt', content_base64: null } as unknown as { path: string };
    await expect(svc.file.put(untyped)).rejects.toThrow('The call needs content_base64.');
    expect(await svc.kv.get({ key: 'kept' })).toMatchObject({ value: { n: 1 } });
    expect(await svc.file.get({ path: 'kept.txt' })).toMatchObject({ size_bytes: 4 });
    await svc.kv.set({ key: 'kept', value: null });
    expect(await svc.kv.get({ key: 'kept' })).toMatchObject({ value: null });
  });

  it('has one effect, although its answer was lost', async () => {
    const proxy = await LossyProxy.open(test.url);
    const client = new Svc({ apiKey: test.apiKey, gateway: proxy.url });
    proxy.loseAnswersTo('PUT /v1/kv/counted');
    // Done twice, it would be refused.
    await client.kv.set({ key: 'counted', value: 1, if_version: 0 });
    expect(proxy.lost).toBe(1);
    await proxy.down();
  });

  it('goes over the fetch that it is given', async () => {
    const seen: string[] = [];
    const fetch: typeof globalThis.fetch = (input, init) => {
      const { href } = new URL(input instanceof Request ? input.url : input);
      seen.push(`${init?.method} ${href}`);
      return globalThis.fetch(input, init);
    };
    const proxy = await LossyProxy.open(test.url);
    const client = new Svc({ apiKey: test.apiKey, gateway: proxy.url, fetch });
    proxy.loseAnswersTo('PUT /v1/kv/fetched');
    await client.kv.set({ key: 'fetched', value: 1, if_version: 0 });
    expect(seen).toEqual(Array(2).fill(`PUT ${proxy.url}/v1/kv/fetched?if_version=0`));
    const stop = new AbortController();
    const waiting = client.inbox.wait({}, { signal: stop.signal });
    await expect.poll(() => seen.length).toBe(3);
    stop.abort(new Error('Enough.'));
    await expect(waiting).rejects.toThrow('Enough.');
    await proxy.down();
  });

  it.each([
    ['fetch', { fetch: globalThis.fetch }],
    ['node:http', {}],
  ])('that nobody answers in time may have had its effect, over %s', async (_, how) => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const gateway = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const client = new Svc({ apiKey: 'k', gateway, maxRetries: 0, timeout: 50, ...how });
    await expect(client.whoami()).rejects.toMatchObject({
      code: 'UNREACHABLE',
      message: 'No answer within 0.05 s.',
      sent: true,
    });
    silent.closeAllConnections();
    silent.close();
  });

  it('is not tried again if it says so, and fails as a lost connection', async () => {
    const proxy = await LossyProxy.open(test.url);
    const client = new Svc({ apiKey: test.apiKey, gateway: proxy.url });
    proxy.loseAnswersTo('PUT /v1/kv/lost');
    const call = client.kv.set({ key: 'lost', value: 1 }, { maxRetries: 0 });
    await expect(call).rejects.toThrow(ConnectionError);
    await expect(call).rejects.toMatchObject({ code: 'UNREACHABLE', retryable: true, status: 0 });
    await proxy.down();
  });

  it('repeats with the idempotency key that it is given', async () => {
    const options = { idempotencyKey: 'nightly-1' };
    const first = await svc.key.create({ name: 'one', scopes: ['disk'] }, options);
    const again = await svc.key.create({ name: 'one', scopes: ['disk'] }, options);
    expect(again.id).toBe(first.id);
  });

  it('ends with its signal', async () => {
    const stop = new AbortController();
    const waiting = svc.inbox.wait({}, { signal: stop.signal });
    stop.abort(new Error('Enough.'));
    await expect(waiting).rejects.toThrow('Enough.');
  });

  it('is refused with the class, the code and the request id', async () => {
    const named = svc.request.status({ request_id: `req_${'0'.repeat(26)}` });
    await expect(named).rejects.toThrow(NotFoundError);
    await expect(named).rejects.toMatchObject({
      code: 'NOT_FOUND',
      status: 404,
      requestId: expect.stringMatching(/./),
      retryable: false,
    });
    await expect(svc.kv.set({ key: '', value: 1 })).rejects.toThrow('The call needs key.');
    await expect(svc.inbox.claim({ event_id: 'x' })).rejects.toThrow(ValidationError);
    await svc.kv.set({ key: 'taken', value: 1 });
    const stale = svc.kv.set({ key: 'taken', value: 2, if_version: 0 });
    await expect(stale).rejects.toThrow(ConflictError);
    const stranger = new Svc({ apiKey: 'svc_live_wrong', gateway: test.url });
    await expect(stranger.whoami()).rejects.toThrow(AuthenticationError);
  });

  it('says where nobody answers', async () => {
    const nobody = new Svc({
      apiKey: 'k',
      gateway: `http://127.0.0.1:${await freePort()}`,
      maxRetries: 0,
    });
    await expect(nobody.whoami()).rejects.toMatchObject({
      code: 'UNREACHABLE',
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });
});

describe('what is not there', () => {
  it('is null', async () => {
    expect(await svc.kv.get({ key: 'nothing' })).toBeNull();
    expect(await svc.state.load({ task_id: 'nothing' })).toBeNull();
    expect(await svc.file.get({ path: 'nothing' })).toBeNull();
    expect(await svc.file.read('nothing')).toBeNull();
    expect(await svc.inbox.wait({ timeout: 1 })).toBeNull();
  });
});

describe('a list', () => {
  it('is gone through page by page', async () => {
    for (let n = 0; n < 5; n += 1) await svc.kv.set({ key: `page/${n}`, value: n });
    const seen: string[] = [];
    for await (const { key } of svc.kv.list({ prefix: 'page/', limit: 2 })) seen.push(key);
    expect(seen).toEqual(['page/0', 'page/1', 'page/2', 'page/3', 'page/4']);
    const page = await svc.kv.list({ prefix: 'page/', limit: 2 }).page();
    expect(page.items).toHaveLength(2);
    expect(page.next_cursor).not.toBeNull();
    expect(await svc.ledger.query({ limit: 3 }).all()).not.toHaveLength(3);
  });
});

describe('the disk', () => {
  it.each([5, 1_500_000])('keeps a file of %i bytes', async (size) => {
    const bytes = new Uint8Array(size).map((_zero, index) => index % 251);
    const saved = await svc.file.write(`kept/${size}`, bytes, { content_type: 'image/png' });
    expect(saved).toMatchObject({ size_bytes: size, content_type: 'image/png' });
    const found = (await svc.file.read(`kept/${size}`)) ?? [];
    expect(Buffer.from(found).equals(bytes)).toBe(true);
  });

  it('runs a step once per key', async () => {
    const runs: number[] = [];
    const charge = () => svc.once('charge', () => ({ charged: runs.push(1) }), { key: 'order-7' });
    expect(await charge()).toEqual({ charged: 1 });
    expect(await charge()).toEqual({ charged: 1 });
    expect(runs).toHaveLength(1);
  });

  it('holds a lock for one at a time', async () => {
    const order: string[] = [];
    const [held, taken] = [promised(), promised()];
    const first = svc.lock('deploy', async () => {
      taken.resolve();
      await held.promise;
      order.push('first');
    });
    await taken.promise;
    await expect(svc.lock('deploy', () => undefined, { wait: 0 })).rejects.toMatchObject({
      code: 'LOCKED',
    });
    const second = svc.lock('deploy', () => order.push('second'));
    held.resolve();
    await Promise.all([first, second]);
    expect(order).toEqual(['first', 'second']);
  });
});
