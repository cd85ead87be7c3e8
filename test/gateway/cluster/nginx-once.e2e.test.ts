import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newApiKey, newProjectId } from '../../../shared/lib/ids.ts';
import { DeployedNginx } from '../../helpers/deployed-nginx.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { findProgram, freePort } from '../../helpers/programs.ts';
import { required } from '../../helpers/require.ts';

const nginx = findProgram('nginx');
/** nginx counts in whole seconds. */
const FAIL_TIMEOUT = '1s';
const FORGIVEN_MS = 2200;

/** Something that nginx takes for a gateway, and that does what a test says. */
class Stub {
  readonly came: string[] = [];
  answer: (response: ServerResponse, request: IncomingMessage) => void = (response) =>
    response.end('{}');
  readonly #server: Server;
  readonly #port: number;

  constructor(port: number) {
    this.#port = port;
    this.#server = createServer((request, response) => {
      this.came.push(`${request.method} ${request.url}`);
      void buffer(request).then(
        () => this.answer(response, request),
        () => undefined,
      );
    });
  }

  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }

  async listen(): Promise<void> {
    await new Promise<void>((done) => this.#server.listen(this.#port, '127.0.0.1', done));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    if (this.#server.address() as AddressInfo | null)
      await new Promise((done) => this.#server.close(done));
  }
}

describe.runIf(required('nginx', nginx !== null, 'apt-get install -y nginx-light'))(
  'what nginx does when a gateway goes, with gateway/deploy/nginx.conf',
  () => {
    const folder = temporaryFolder();
    let stubs: [Stub, Stub];
    let proxy: DeployedNginx;
    let url = '';

    beforeAll(async () => {
      stubs = [new Stub(await freePort()), new Stub(await freePort())];
      const hashed = `http://127.0.0.1:${await freePort()}`;
      const even = `http://127.0.0.1:${await freePort()}`;
      url = hashed;
      await Promise.all(stubs.map((stub) => stub.listen()));
      proxy = await DeployedNginx.start({
        program: nginx ?? '',
        folder: folder.path,
        gateways: [stubs[0].address, stubs[1].address],
        urls: { hashed, even },
        failTimeout: FAIL_TIMEOUT,
      });
    });
    afterAll(async () => {
      await proxy.end();
      await Promise.all(stubs.map((stub) => stub.close()));
      folder.remove();
    });
    beforeEach(async () => {
      for (const stub of stubs) stub.answer = (response) => response.end('{}');
      // A failure of the test before is forgiven.
      await new Promise((done) => setTimeout(done, FORGIVEN_MS));
      for (const stub of stubs) stub.came.length = 0;
    });

    const key = newApiKey(newProjectId());
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const send = (method: string, path: string, body?: string | Uint8Array<ArrayBuffer>) =>
      fetch(url + path, { method, headers, ...(body !== undefined && { body }) });
    const came = (path: string): number =>
      stubs.flatMap((stub) => stub.came).filter((one) => one.endsWith(path)).length;

    it.each([
      ['POST', '/v1/inbox/claim', '{}'],
      ['PUT', '/v1/kv/small', '{"a":1}'],
      ['PUT', '/v1/kv/large%2Fone', `"${'x'.repeat(200_000)}"`],
      ['DELETE', '/v1/kv/small', undefined],
    ])('%s %s is never sent again once it was sent', async (method, path, body) => {
      // It may have been done before the gateway died.
      for (const stub of stubs) stub.answer = (response) => response.destroy();
      const answer = await send(method, path, body);
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
      expect(answer.headers.get('content-type')).toBe('application/json');
      expect(await answer.json()).toMatchObject({
        error: {
          code: 'UNAVAILABLE',
          message: "The service can't take this right now.",
          details: { retry_after: 1 },
        },
      });
      expect(came(path)).toBe(1);
    });

    it('what only reads goes to the other one', async () => {
      const [first, second] = stubs;
      for (const stub of stubs) stub.answer = (response) => response.destroy();
      expect((await send('GET', '/v1/inbox')).status).toBe(503);
      expect([first.came, second.came]).toEqual([['GET /v1/inbox'], ['GET /v1/inbox']]);
    });

    it('what could not be sent goes to the other one, whatever it is', async () => {
      expect((await send('GET', '/v1/home')).status).toBe(200);
      const home = stubs.find((stub) => stub.came.includes('GET /v1/home'));
      const other = stubs.find((stub) => stub !== home);
      const bytes = new Uint8Array(3_000_000);
      for (const [method, path, body] of [
        ['PUT', '/v1/kv/a%2Fb?ttl_seconds=5', '{"a":1}'],
        ['POST', '/v1/inbox/claim', '{}'],
        ['DELETE', '/v1/kv/a%2Fb', undefined],
        ['GET', '/v1/kv/a%2Fb', undefined],
        ['PUT', '/u/token', bytes],
        ['PUT', '/v1/files/large', new Uint8Array(900_000)],
      ] as const) {
        await home?.close();
        await new Promise((done) => setTimeout(done, FORGIVEN_MS));
        expect([path, (await send(method, path, body)).status]).toEqual([path, 200]);
        expect(other?.came.filter((one) => one === `${method} ${path}`)).toHaveLength(1);
      }
      await home?.listen();
    });

    it('says so in the words of the API where none is left', async () => {
      await Promise.all(stubs.map((stub) => stub.close()));
      for (const [method, body] of [['GET'], ['PUT', '{}'], ['POST', '{}']] as const) {
        const answer = await send(method, '/v1/kv/a', body);
        expect([method, answer.status]).toEqual([method, 503]);
        expect(await answer.json()).toMatchObject({ error: { code: 'UNAVAILABLE' } });
      }
      await Promise.all(stubs.map((stub) => stub.listen()));
    });

    it('passes answers of a gateway on as they are, also its own 503', async () => {
      const error = { code: 'UNAVAILABLE', message: 'm', details: { retry_after: 7 } };
      for (const stub of stubs)
        stub.answer = (response) => {
          response.writeHead(503, { 'retry-after': '7' }).end(JSON.stringify({ error }));
        };
      for (const method of ['GET', 'PUT', 'DELETE', 'POST']) {
        const answer = await send(method, `/v1/${method}`);
        expect([answer.headers.get('retry-after'), await answer.json()]).toEqual(['7', { error }]);
        expect(came(`/v1/${method}`)).toBe(1);
      }
    });

    it('passes each event of a stream on as it comes', async () => {
      const streams: ServerResponse[] = [];
      for (const stub of stubs)
        stub.answer = (response) => {
          streams.push(response.writeHead(200, { 'content-type': 'text/event-stream' }));
          response.write('event: place\n\n');
        };
      const answer = await send('GET', '/v1/replica/changes');
      const reader = answer.body?.getReader();
      const next = async (): Promise<string> =>
        Buffer.from((await reader?.read())?.value ?? []).toString();
      expect(await next()).toBe('event: place\n\n');
      for (const n of [1, 2, 3]) {
        streams[0]?.write(`event: change\ndata: ${n}\n\n`);
        expect(await next()).toBe(`event: change\ndata: ${n}\n\n`);
      }
      streams[0]?.end();
    });
  },
);
