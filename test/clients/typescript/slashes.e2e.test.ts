import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Svc } from '../../../clients/typescript/main.ts';
import { TestGateway } from '../../helpers/gateway.ts';

let gateway: TestGateway;
/** Refuses what it can't decode, as Apache does unless told otherwise. */
let proxy: Server;
let url: string;

beforeAll(async () => {
  gateway = await TestGateway.start();
  proxy = createServer((incoming, response) => {
    const { method = 'GET', url: path = '/', headers } = incoming;
    if (/%2f/i.test(path)) {
      response.writeHead(404, { 'content-type': 'text/html', server: 'Apache/2.4' });
      response.end('<h1>Not Found</h1>');
      return;
    }
    const up = request(gateway.url + path, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(up);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
});
afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  await gateway.stop();
});

const NAMES = ['a/b', 'deep/er/name.txt', 'ü/ö ?', 'a/.hidden'];

describe('behind a proxy that refuses %2F', () => {
  it.each(NAMES)('the TypeScript client reads and writes %s', async (key) => {
    const svc = new Svc({ gateway: url, apiKey: gateway.apiKey });
    await svc.kv.set({ key, value: { of: key } });
    expect(await svc.kv.get({ key })).toMatchObject({ key, value: { of: key } });
    await svc.file.write(key, 'text');
    expect(await svc.file.read(`disk://${key}`)).toEqual(new TextEncoder().encode('text'));
    await svc.state.save({ task_id: key, state: 1 });
    expect(await svc.state.load({ task_id: key })).toMatchObject({ state: 1 });
  });

  it('the Python client reads and writes them', async () => {
    const script = `
import svc_agents, sys
svc = svc_agents.Svc(gateway="${url}", api_key="${gateway.apiKey}")
for name in sys.argv[1:]:
    svc.kv.set(name, {"of": name})
    assert svc.kv.get(name)["value"] == {"of": name}, name
    svc.file.write(name, b"text")
    assert svc.file.read("disk://" + name) == b"text", name
try:
    svc.kv.get("/absolute")
except svc_agents.SvcError as error:
    print(error)`;
    const env = { ...process.env, PYTHONPATH: resolve('clients/python/src') };
    const { stdout } = await promisify(execFile)('python3', ['-c', script, ...NAMES], { env });
    expect(stdout).toMatch(/proxy .*\(Apache\/2\.4\) answered HTTP 404.*%2F/);
  });

  it('the error for a name that needs it names the proxy and the way out', async () => {
    const svc = new Svc({ gateway: url, apiKey: gateway.apiKey });
    await expect(svc.kv.get({ key: 'double//slash' })).rejects.toMatchObject({
      code: 'HTTP_404',
      message: 'A proxy in front of the server (Apache/2.4) answered HTTP 404.',
      hint: expect.stringContaining('%2F') as string,
    });
  });

  it.each(['a/./b', 'a/../b'])('%s is refused, and never becomes another name', async (key) => {
    const svc = new Svc({ gateway: gateway.url, apiKey: gateway.apiKey });
    const set = svc.kv.set({ key, value: 1 });
    await expect(set).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
    expect(await svc.kv.get({ key: 'b' })).toBeNull();
  });

  it.each(['/absolute', 'trailing/', 'double//slash'])(
    'without the proxy, %s is the same name as before',
    async (key) => {
      const svc = new Svc({ gateway: gateway.url, apiKey: gateway.apiKey });
      await svc.kv.set({ key, value: key });
      expect(await svc.kv.get({ key })).toMatchObject({ key, value: key });
    },
  );
});
