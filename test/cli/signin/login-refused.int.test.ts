import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeGateway } from './fake-gateway.ts';
import { Machine } from './machine.ts';

const EMAIL = 'ana@example.com';

let gateway: FakeGateway;
let machine: Machine;
beforeEach(async () => {
  gateway = await FakeGateway.start();
  machine = new Machine();
});
afterEach(() => {
  gateway.close();
  machine.remove();
});

function login(...flags: string[]) {
  return machine.svc(['login', '--gateway', gateway.url, '--email', EMAIL, ...flags]);
}

describe('an address that is no gateway', () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  async function site(listener: RequestListener): Promise<string> {
    const other = createServer(listener);
    server = other;
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  }

  it.each<[string, RequestListener, number, string]>([
    [
      'a site',
      (_, response) => void response.end('<html>'),
      1,
      "NOT_A_GATEWAY: http://127.0.0.1:PORT answers, but it isn't an svc gateway.\nCheck --gateway.",
    ],
    [
      'a site that has moved',
      (_, response) => void response.writeHead(308, { location: 'https://new.example/v1' }).end(),
      1,
      'It redirects elsewhere: --gateway https://new.example',
    ],
    [
      'a proxy without its gateway',
      (_, response) => void response.writeHead(502).end(),
      7,
      'UNREACHABLE: http://127.0.0.1:PORT answers HTTP 502: the gateway behind it is down.',
    ],
    [
      'the daemon of a machine',
      (_, response) =>
        void response
          .writeHead(404, { 'x-service-version': '0.1.0' })
          .end('{"error":{"code":"NOT_FOUND"}}'),
      1,
      "NOT_A_GATEWAY: You can't sign in at this address",
    ],
    [
      'nobody who speaks HTTP',
      (request) => request.socket.destroy(),
      7,
      'UNREACHABLE: The connection broke',
    ],
  ])('%s', async (_, listener, exit, text) => {
    const url = await site(listener);
    const { code, stdout, stderr } = await machine.svc([
      'login',
      '--gateway',
      url,
      '--email',
      EMAIL,
    ]);
    expect([code, stdout]).toEqual([exit, '']);
    expect(stderr.replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT')).toContain(text);
  });

  it('nobody at all', async () => {
    const { url } = gateway;
    gateway.close();
    const { code, stderr } = await machine.svc(['login', '--gateway', url, '--email', EMAIL]);
    expect(code).toBe(7);
    expect(stderr).toContain(`Can't reach ${url} (ECONNREFUSED).`);
    expect(stderr).toContain('Check the address and your connection.');
  });

  it('https where only http is spoken', async () => {
    const url = gateway.url.replace('http:', 'https:');
    const { code, stderr } = await machine.svc(['login', '--gateway', url, '--email', EMAIL]);
    expect(code).toBe(7);
    expect(stderr).toContain(`Can't make a secure connection to ${url} (`);
  });
});

describe('a command line of svc login that cannot work', () => {
  it.each([
    ['without a gateway', ['--email', EMAIL], '--gateway is missing.'],
    ['without an email', ['--gateway', 'GATEWAY'], '--email is missing.'],
    ['with no address', ['--gateway', 'ftp://x', '--email', EMAIL], "isn't a gateway address"],
    [
      'over the network in clear',
      ['--gateway', 'http://gw.example'],
      'cross the network unencrypted',
    ],
    ['with no email', ['--gateway', 'GATEWAY', '--email', 'ana'], "--email isn't an email address"],
    [
      'with a key as an argument',
      ['--with-key', 'svc_live_x'],
      "--with-key doesn't take the key itself",
    ],
    [
      'with a key and mail',
      ['--with-key', '-', '--email', EMAIL],
      'Use either --with-key or --email',
    ],
    ['with a key for nowhere', ['--with-key', '-'], '--gateway is missing.'],
    ['with both', ['--project', 'a', '--create', 'b'], 'Use either --project or --create'],
    ['without a name', ['--create', ' '], '--create needs a name'],
    ['with a profile', ['--profile', 'x'], 'Name it with: --name NAME'],
    [
      'with a bad name',
      ['--gateway', 'GATEWAY', '--email', EMAIL, '--name', 'a b'],
      '--name takes',
    ],
    [
      "with this machine's own name",
      ['--gateway', 'GATEWAY', '--email', EMAIL, '--name', 'default'],
      "this machine's own project",
    ],
  ])('%s is refused before anything is sent', async (_, flags, text) => {
    const argv = ['login', ...flags.map((flag) => flag.replace('GATEWAY', gateway.url))];
    const { code, stdout, stderr } = await machine.svc(argv);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(text)]);
    expect(gateway.seen).toEqual([]);
  });

  it('a name that another project has', async () => {
    const acme = { gateway: 'https://elsewhere.example', api_key: 'svc_live_1', project: 'prj_1' };
    machine.store({ profiles: { acme }, current: 'acme' });
    const { code, stderr } = await login('--name', 'acme');
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('The profile "acme" already exists for another'),
    ]);
    expect(gateway.seen).toEqual([]);
  });

  it('a name that another project of this gateway has, before the sign-in is used up', async () => {
    const acme = { gateway: gateway.url, api_key: 'svc_live_1', project: 'prj_1' };
    machine.store({ profiles: { acme }, current: 'acme' });
    const { code } = await login('--name', 'acme', '--create', 'Shop');
    expect(code).toBe(2);
    expect(gateway.count('POST /v1/projects')).toBe(0);
    expect((await login('--name', 'shop', '--create', 'Shop')).code).toBe(0);
    expect(gateway.count('POST /v1/auth/start')).toBe(1);
  });

  it('a store that is damaged, before any mail is sent', async () => {
    machine.store([] as never);
    const { code, stderr } = await login();
    expect([code, stderr]).toEqual([4, expect.stringContaining('CREDENTIALS_INVALID')]);
    expect(gateway.seen).toEqual([]);
  });
});
