import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readMailConfig } from '../../gateway/mail/read-mail-config.ts';
import { operations } from '../../shared/operations/index.ts';
import { isObject } from '../../shared/lib/guards.ts';
import { LOOPBACK, type Receiver } from '../gateway/callbacks/callback-receiver.ts';
import { TestGateway } from '../helpers/gateway.ts';
import { Contract } from './contract.ts';
import { openApiText } from './files.ts';
import { prepared } from './preparations.ts';
import { startReceiver } from './receiver.ts';
import { requestFor, World } from './scenario.ts';

let gateway: TestGateway;
let receiver: Receiver;
let world: World;
let contract: Contract;

beforeAll(async () => {
  const mail = readMailConfig({ SVC_MAIL_DOMAIN: 'inbox.example' });
  const people = { mail, telegram: null };
  gateway = await TestGateway.start({ callbackAllow: LOOPBACK, signIn: true, messaging: people });
  receiver = await startReceiver();
  world = new World(gateway, receiver.url(), gateway.folder);
  // No key: the document is for everyone.
  contract = new Contract(
    (await world.call('GET', '/v1/openapi.json?internal=true', { key: null })).body,
  );
});
afterAll(async () => {
  await gateway.stop();
  await receiver.stop();
});

describe('the published document', () => {
  it('is the pinned one with the addresses of this server', async () => {
    const { body, headers } = await world.call('GET', '/v1/openapi.json', { key: null });
    const pinned = openApiText().replaceAll('http://127.0.0.1:4780', gateway.url);
    expect(body).toEqual(JSON.parse(pinned));
    expect(headers.get('x-request-id')).toMatch(/^\S{10,}$/);
  });

  it('is read and nothing else', async () => {
    const { status, body, headers } = await world.call('POST', '/v1/openapi.json', { body: {} });
    expect([status, body]).toMatchObject([405, { error: { code: 'METHOD_NOT_ALLOWED' } }]);
    expect(headers.get('allow')).toBe('GET');
    expect(contract.faults('openapi', status, body)).toEqual([]);
  });

  it('tells a wrong request from a right one', () => {
    const sent = { method: 'PUT', path: '/v1/kv/a', carried: { body: 1 } };
    expect(contract.requestFaults('kv_set', sent)).toEqual([]);
    expect(contract.requestFaults('kv_set', { ...sent, path: '/v1/kv/a?b=1' })).toEqual([
      '/v1/kv/{key} has no query parameter b',
    ]);
    expect(contract.requestFaults('kv_set', { ...sent, method: 'POST' })).toHaveLength(1);
    expect(contract.requestFaults('kv_set', { ...sent, carried: {} })).toHaveLength(1);
    expect(contract.requestFaults('kv_get', { ...sent, method: 'GET' })).toHaveLength(1);
    const form = { body: {}, type: 'application/x-www-form-urlencoded' };
    expect(contract.requestFaults('kv_set', { ...sent, carried: form })).toHaveLength(1);
    const save = { method: 'PUT', path: '/v1/state/a', carried: { body: { note: 1 } } };
    expect(contract.requestFaults('state_save', save)).not.toEqual([]);
  });

  it('tells a wrong answer from a right one', () => {
    const whoami = { project: 'x' };
    expect(contract.faults('whoami', 200, whoami)).not.toEqual([]);
    expect(contract.faults('whoami', 418, {})).toEqual(['whoami promises no answer 418']);
    const error = { code: 'NO_SUCH_CODE', message: 'x', hint: null };
    expect(contract.faults('whoami', 401, { error })).not.toEqual([]);
  });
});

describe.each(operations.map((operation) => [operation.name, operation] as const))(
  'answers of %s',
  (name, operation) => {
    it('are as promised when it succeeds', async () => {
      const input = await prepared(operation, world);
      expect(contract.requestFaults(name, requestFor(operation, input))).toEqual([]);
      const { status, body, headers } = await world.run(name, input);
      const { rest } = operation;
      expect(status).toBe(rest.accepted?.(body) ? 202 : (rest.status ?? 200));
      expect(contract.faults(name, status, body)).toEqual([]);
      expect(headers.get('x-request-id')).toMatch(/^\S{10,}$/);
      expect(headers.get('x-service-version')).toMatch(/^\d+\.\d+\.\d+/);
    });

    it('are as promised without a key and with a wrong one', async () => {
      for (const key of [null, 'svc_live_nonsense']) {
        const { status, body } = await world.run(name, operation.example, { key });
        expect([status, body]).toMatchObject([401, { error: { code: 'UNAUTHENTICATED' } }]);
        expect(contract.faults(name, status, body)).toEqual([]);
      }
    });

    it('are as promised when the input is wrong', async () => {
      const { method, path, carried } = requestFor(operation, operation.example);
      // A body that is one field whole, or none, has no place for a field that nobody knows.
      const { body: fields } = operation.rest.body ? {} : carried;
      const wrong = isObject(fields)
        ? await world.call(method, path, { body: { ...fields, surprise: true } })
        : await world.call(method, path, { ...carried, headers: { 'idempotency-key': 'ü' } });
      expect([wrong.status, wrong.body]).toMatchObject([
        400,
        {
          error: {
            code: 'VALIDATION_FAILED',
            details: { fields: [{ path: fields ? 'surprise' : 'Idempotency-Key' }] },
          },
        },
      ]);
      expect(contract.faults(name, 400, wrong.body)).toEqual([]);
    });
  },
);

describe('answers of the webhook ingress', () => {
  it('are as promised', async () => {
    const hook = await world.hook();
    const first = await world.deliver(hook, '{"n":1}');
    expect([first.status, first.body]).toMatchObject([200, { status: 'accepted' }]);
    const again = await world.deliver(hook, '{"n":1}');
    expect([again.status, again.body]).toMatchObject([200, { status: 'duplicate' }]);
    const nowhere = await world.deliver(`${gateway.url}/w/nonsense`, '{}');
    expect([nowhere.status, nowhere.body]).toMatchObject([404, { error: { code: 'NOT_FOUND' } }]);
    const read = await world.call('DELETE', new URL(hook).pathname);
    expect([read.status, read.body]).toMatchObject([
      405,
      { error: { code: 'METHOD_NOT_ALLOWED' } },
    ]);
    for (const { status, body } of [first, again, nowhere, read]) {
      expect(contract.faults('webhook_receive', status, body)).toEqual([]);
    }
  });

  it('are as promised when a signature is wrong', async () => {
    await world.get('source_add', {
      type: 'webhook',
      name: 'signed',
      verification: 'github',
      secret: 'a-shared-secret',
    });
    const { status, body } = await world.deliver(await world.hook('signed'), '{}');
    expect([status, body]).toMatchObject([401, { error: { code: 'INGRESS_SIGNATURE_INVALID' } }]);
    expect(contract.faults('webhook_receive', status, body)).toEqual([]);
  });
});
