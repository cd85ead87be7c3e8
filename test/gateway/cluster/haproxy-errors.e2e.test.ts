import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DeployedHaproxy } from '../../helpers/deployed-haproxy.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { findProgram, freePort } from '../../helpers/programs.ts';
import { required } from '../../helpers/require.ts';

const haproxy = findProgram('haproxy', ['/usr/sbin']);

describe.runIf(required('HAProxy', haproxy !== null, 'apt-get install -y haproxy'))(
  'behind HAProxy as gateway/deploy/haproxy.cfg has it, a gateway that',
  () => {
    const folder = temporaryFolder();
    const gateways: Server[] = [];
    let proxy: DeployedHaproxy;
    let url: string;
    /** Health checks that no gateway has answered; null while they do. */
    let unanswered: number | null = null;

    beforeAll(async () => {
      const listens: string[] = [];
      for (const _ of ['a', 'b']) {
        const server = createServer(({ url: path, socket }, response) => {
          if (path === '/v1/breaks') socket.destroy();
          else if (path === '/v1/hangs') return;
          else if (path === '/readyz' && unanswered !== null) unanswered += 1;
          else response.end();
        });
        const port = await freePort();
        await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
        gateways.push(server);
        listens.push(`127.0.0.1:${port}`);
      }
      url = `http://127.0.0.1:${await freePort()}`;
      const [first = '', second = ''] = listens;
      const wanted = { folder: folder.path, gateways: [first, second] as const, url };
      proxy = await DeployedHaproxy.start({ program: haproxy ?? '', ...wanted });
    });
    afterAll(async () => {
      await proxy.end();
      for (const server of gateways) {
        server.closeAllConnections();
        server.close();
      }
      folder.remove();
    });

    it.each([
      ['breaks off', '/v1/breaks'],
      ['says nothing', '/v1/hangs'],
    ])('%s is a 503 that callers repeat, and no 502 or 504', async (_what, path) => {
      const answer = await fetch(url + path);
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
      expect(await answer.json()).toMatchObject({ error: { code: 'UNAVAILABLE' } });
    });

    it('is late for its health check is asked all the same while no other is ready', async () => {
      unanswered = 0;
      // The first one takes a gateway out, and then come more.
      await expect.poll(() => unanswered).toBeGreaterThanOrEqual(6);
      expect((await fetch(`${url}/v1/whoami`)).status).toBe(200);
    });
  },
);
