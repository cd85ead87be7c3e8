import { afterEach, describe, expect, it } from 'vitest';
import { HttpClient } from '../../cli/call/client.ts';
import { CallError } from '../../cli/errors.ts';
import { VERSION } from '../../shared/lib/version.ts';
import { FakeDaemon, json, refuse } from './fake-daemon.ts';

let daemon: FakeDaemon | undefined;
afterEach(() => daemon?.close());

function start(answer: ConstructorParameters<typeof FakeDaemon>[0]): FakeDaemon {
  daemon = new FakeDaemon(answer);
  return daemon;
}

function clientOf({ home, env }: FakeDaemon, more: NodeJS.ProcessEnv = {}, profile?: string) {
  const warnings: string[] = [];
  const warn = (text: string) => void warnings.push(text);
  const client = new HttpClient({ home, env: { ...env, ...more }, profile, warn });
  return { client, warnings };
}

describe('a call', () => {
  it('goes to the socket with the stored key and says who calls', async () => {
    const fake = start((_, response) => json(response, { fine: true }));
    await fake.listen();
    const { client, warnings } = clientOf(fake, { SVC_AGENT: 'billing-bot' });
    const query = { limit: 5, type: 'a b*', since: undefined, scopes: ['x', 'y'] };
    expect(await client.send('GET', '/v1/inbox', { query })).toEqual({ fine: true });
    const [seen] = fake.seen;
    expect(seen?.url).toBe('/v1/inbox?limit=5&type=a+b*&scopes=x&scopes=y');
    expect(seen?.headers).toMatchObject({
      host: 'localhost',
      authorization: `Bearer ${fake.apiKey}`,
      'user-agent': `svc/${VERSION}`,
      'x-service-version': VERSION,
      'x-service-agent': 'billing-bot',
    });
    expect(seen?.headers).not.toHaveProperty('idempotency-key');
    expect(warnings).toEqual([]);
  });

  it('carries a fresh Idempotency-Key when it writes', async () => {
    const fake = start((_, response) => json(response, {}));
    await fake.listen();
    const { client } = clientOf(fake);
    await client.send('POST', '/v1/keys', { body: { name: 'ci' } });
    await client.send('DELETE', '/v1/keys/key_1');
    const keys = fake.seen.map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBe(2);
    expect(keys.every((key) => typeof key === 'string' && key.length >= 20)).toBe(true);
    expect(fake.seen[0]).toMatchObject({
      body: '{"name":"ci"}',
      headers: { 'content-type': 'application/json', 'content-length': '13' },
    });
  });

  it('is repeated once with the same key when the connection breaks', async () => {
    const fake = start((_, response) => {
      if (fake.seen.length === 1) response.destroy();
      else json(response, { done: true });
    });
    await fake.listen();
    const { client } = clientOf(fake);
    expect(await client.send('POST', '/v1/inbox/ack', { body: {} })).toEqual({ done: true });
    const [first, second] = fake.seen.map(({ headers }) => headers['idempotency-key']);
    expect(first).toBe(second);
  });

  it('gives up when it breaks again', async () => {
    const fake = start((_, response) => response.destroy());
    await fake.listen();
    const call = clientOf(fake).client.send('GET', '/v1/inbox');
    await expect(call).rejects.toMatchObject({ code: 'UNREACHABLE', exit: 7 });
    expect(fake.seen).toHaveLength(2);
  });

  it.each([
    ['UNAUTHENTICATED', 401, 4],
    ['KEY_REVOKED', 401, 4],
    ['SCOPE_MISSING', 403, 4],
    ['POLICY_DENIED', 403, 5],
    ['NOT_FOUND', 404, 3],
    ['VALIDATION_FAILED', 400, 2],
    ['POLICY_INVALID', 400, 2],
    ['CHANNEL_KIND_UNAVAILABLE', 400, 1],
    // A page of another site, which no other command line helps.
    ['VALIDATION_FAILED', 403, 1],
    ['SOURCE_NAME_TAKEN', 409, 1],
    // What a daemon says of a gateway that is away.
    ['UNAVAILABLE', 503, 7],
    ['RATE_LIMITED', 429, 1],
  ])('that is refused with %s throws it with its exit code', async (code, status, exit) => {
    const fake = start((_, response) => refuse(response, status, code));
    await fake.listen();
    const failure: unknown = await clientOf(fake)
      .client.send('GET', '/v1/x')
      .catch((e: unknown) => e);
    expect(failure).toBeInstanceOf(CallError);
    expect(failure).toMatchObject({ code, status, exit, message: `${code}.` });
  });

  it('that is answered by something else says so', async () => {
    const fake = start(({ url }, response) => {
      response.statusCode = url === '/ok' ? 200 : 502;
      response.end('<html>');
    });
    await fake.listen();
    const { client } = clientOf(fake);
    await expect(client.send('GET', '/ok')).rejects.toMatchObject({
      code: 'ANSWER_INVALID',
      exit: 1,
    });
    await expect(client.send('GET', '/bad')).rejects.toMatchObject({ code: 'HTTP_502', exit: 7 });
  });

  it('ends with its signal', async () => {
    const fake = start(() => {});
    await fake.listen();
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 50);
    const call = clientOf(fake).client.send('GET', '/v1/inbox/wait', { signal: abort.signal });
    await expect(call).rejects.toThrow('aborted');
  });

  it('ends when the other side is silent for too long', async () => {
    const fake = start(() => {});
    await fake.listen();
    const call = clientOf(fake).client.send('GET', '/v1/inbox', { timeoutMs: 60 });
    await expect(call).rejects.toMatchObject({ code: 'UNREACHABLE', exit: 7 });
  });

  it('says once that what it got may be old', async () => {
    const fake = start((_, response) => {
      response.setHeader('x-service-stale', 'true');
      response.setHeader('x-service-replica-age', '61.204');
      json(response, {});
    });
    await fake.listen();
    const { client, warnings } = clientOf(fake);
    await client.send('GET', '/v1/kv/a');
    await client.send('GET', '/v1/kv/a');
    expect(warnings).toEqual([
      "The gateway didn't answer: this is what the copy on this machine knew 61 s ago.",
    ]);
  });

  it('warns once when the daemon is of another release', async () => {
    const fake = start((_, response) => {
      response.setHeader('x-service-version', '9.9.9');
      json(response, {});
    });
    await fake.listen();
    const { client, warnings } = clientOf(fake);
    await client.send('GET', '/v1/whoami');
    await client.send('GET', '/v1/whoami');
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('version 9.9.9');
  });
});

describe('without a daemon', () => {
  it('says how to start it', async () => {
    const fake = start(() => {});
    await expect(clientOf(fake).client.send('GET', '/v1/whoami')).rejects.toMatchObject({
      message: "The daemon isn't running. Start it with: svc up",
      exit: 7,
    });
  });

  it('waits for one that is starting, and takes the key it makes', async () => {
    const fake = start((_, response) => json(response, { up: true }));
    fake.write('daemon.json', { pid: process.pid, instance: 'x', state: 'starting' });
    const { apiKey } = fake;
    fake.write('credentials.json', { profiles: {}, current: 'default' });
    setTimeout(() => {
      const profile = { gateway: null, api_key: apiKey, project: fake.project };
      fake.write('credentials.json', { profiles: { default: profile }, current: 'default' });
      void fake.listen();
    }, 200);
    expect(await clientOf(fake).client.send('GET', '/v1/whoami')).toEqual({ up: true });
    expect(fake.seen[0]?.headers.authorization).toBe(`Bearer ${apiKey}`);
  });

  it('does not wait for one that died while starting', async () => {
    const fake = start(() => {});
    fake.write('daemon.json', { pid: 2 ** 22 + 1, instance: 'x', state: 'starting' });
    await expect(clientOf(fake).client.send('GET', '/v1/whoami')).rejects.toMatchObject({
      exit: 7,
    });
  });
});

async function failureOf(call: Promise<unknown>): Promise<unknown> {
  const failure: unknown = await call.catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'UNREACHABLE', exit: 7 });
  return failure;
}

describe('whether a call that failed may have had its effect', () => {
  it('is open when the connection broke, or nothing came back', async () => {
    const fake = start(({ url }, response) => {
      if (url === '/cut') response.destroy();
      if (url === '/half') response.writeHead(200).write('{');
      if (url === '/half') setTimeout(() => response.destroy(), 20);
    });
    await fake.listen();
    const { client } = clientOf(fake);
    expect(await failureOf(client.send('POST', '/cut'))).toMatchObject({ sent: true });
    expect(await failureOf(client.send('POST', '/half'))).toMatchObject({ sent: true });
    const silent = client.send('POST', '/silent', { timeoutMs: 60 });
    expect(await failureOf(silent)).toMatchObject({ sent: true });
  });

  it('is open when the daemon dies over it', async () => {
    const fake = start((_, response) => {
      response.destroy();
      fake.close();
    });
    await fake.listen();
    expect(await failureOf(clientOf(fake).client.send('POST', '/x'))).toMatchObject({ sent: true });
  });

  it.each([
    ['no daemon listens', {}],
    ['no gateway listens', { SVC_GATEWAY: 'http://127.0.0.1:1' }],
    ['there is no such host', { SVC_GATEWAY: 'https://nobody.invalid' }],
  ])('is not where %s', async (_, env) => {
    const { client } = clientOf(
      start(() => {}),
      env,
    );
    expect(await failureOf(client.send('POST', '/x'))).toMatchObject({ sent: false });
  });
});

describe('the gateway and the key', () => {
  it('SVC_GATEWAY is called over TCP, with the key of SVC_API_KEY', async () => {
    const fake = start((_, response) => json(response, {}));
    await fake.listen(0);
    const gateway = `http://127.0.0.1:${fake.port}/base/`;
    const { client } = clientOf(fake, { SVC_GATEWAY: gateway, SVC_API_KEY: 'svc_live_env' });
    await client.send('GET', '/v1/whoami');
    expect(fake.seen[0]).toMatchObject({
      url: '/base/v1/whoami',
      headers: { host: `127.0.0.1:${fake.port}`, authorization: 'Bearer svc_live_env' },
    });
  });

  it('a stored key goes only to the gateway it came from', () => {
    const fake = start(() => {});
    const work = { gateway: 'https://svc.example', api_key: 'svc_live_work', project: 'prj_w' };
    const local = { gateway: null, api_key: 'svc_live_local', project: 'prj_l' };
    fake.write('credentials.json', { profiles: { local, work }, current: 'local' });
    const keyFor = (gateway: string, profile?: string) =>
      clientOf(fake, { SVC_GATEWAY: gateway }, profile).client.apiKey;
    expect(keyFor('')).toBe('svc_live_local');
    expect(keyFor('http://127.0.0.1:4780')).toBe('svc_live_local');
    expect(keyFor('https://evil.example')).toBe('');
    expect(keyFor('https://svc.example/', 'work')).toBe('svc_live_work');
    expect(keyFor('https://evil.example', 'work')).toBe('');
  });

  it('a stored key goes over http to another machine only where the sign-in went there', async () => {
    const fake = start(() => {});
    const lan = { gateway: 'http://svc.lan:4780', api_key: 'svc_live_lan', project: 'prj_n' };
    const work = { gateway: 'https://svc.example', api_key: 'svc_live_work', project: 'prj_w' };
    fake.write('credentials.json', { profiles: { lan, work }, current: 'lan' });
    const { client } = clientOf(fake, { SVC_GATEWAY: 'http://svc.lan:4780' });
    expect(client.apiKey).toBe('svc_live_lan');
    const env = { SVC_GATEWAY: 'http://svc.example' };
    const refused = clientOf(fake, env, 'work');
    expect(refused.client.apiKey).toBe('');
    await expect(refused.client.send('GET', '/v1/whoami')).rejects.toMatchObject({
      code: 'USAGE',
      exit: 2,
      message:
        'SVC_GATEWAY uses http to another machine, so your stored key would cross the network unencrypted.',
      hint: 'Try: SVC_GATEWAY=https://svc.example. If you trust the network: svc login --gateway http://svc.example --insecure',
    });
  });

  it('a key in SVC_API_KEY goes there, with one warning', async () => {
    const fake = start(() => {});
    const env = { SVC_GATEWAY: 'http://nobody.invalid:99', SVC_API_KEY: 'svc_live_env' };
    const { client, warnings } = clientOf(fake, env);
    expect(client.apiKey).toBe('svc_live_env');
    expect(warnings).toEqual([]);
    await failureOf(client.send('GET', '/v1/whoami'));
    await failureOf(client.send('GET', '/v1/whoami'));
    expect(warnings).toEqual([
      'SVC_API_KEY crosses the network unencrypted. If nobody.invalid:99 supports TLS: SVC_GATEWAY=https://nobody.invalid:99',
    ]);
  });

  it.each([
    ['https to another machine', 'https://nobody.invalid'],
    ['http to this machine', 'http://127.0.0.1:1'],
    ['http to this machine by IPv6', 'http://[::1]:1'],
  ])('a key in SVC_API_KEY is not warned of: %s', async (_, gateway) => {
    const env = { SVC_GATEWAY: gateway, SVC_API_KEY: 'svc_live_env' };
    const { client, warnings } = clientOf(
      start(() => {}),
      env,
    );
    await failureOf(client.send('GET', '/v1/whoami'));
    expect(warnings).toEqual([]);
  });

  it.each([
    [{ SVC_GATEWAY: 'ftp://x' }, undefined, 2],
    [{}, 'nowhere', 2],
    [{}, 'toString', 2],
  ])('refuses %j with profile %s', (env, profile, exit) => {
    const fake = start(() => {});
    expect(() => clientOf(fake, env, profile)).toThrow(expect.objectContaining({ exit }));
  });

  it('a damaged credentials file is named', () => {
    const fake = start(() => {});
    fake.write('credentials.json', ['no']);
    expect(() => clientOf(fake)).toThrow(expect.objectContaining({ exit: 4 }));
  });
});
