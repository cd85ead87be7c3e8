import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { askNaming } from '../../helpers/named-hosts.ts';
import { Hosted } from './hosted.ts';

let folder: ReturnType<typeof temporaryFolder>;
let hosted: Awaited<ReturnType<typeof Hosted.start>>;

beforeAll(async () => {
  folder = temporaryFolder();
  hosted = await Hosted.start({
    SVC_DATA: join(folder.path, 'data'),
    SVC_LISTEN: '127.0.0.1:0',
    SVC_PUBLIC_URL: 'https://svc.example.com',
    SVC_CONTENT_URL: 'https://content.example.net',
  });
});
afterAll(async () => {
  await hosted.end('SIGKILL');
  folder.remove();
});

const ask = (path: string, host: string) => askNaming(hosted.status.listen, path, [host]);

it.each(['/healthz', '/readyz', '/metrics', '/ui/sign-in', '/v1/openapi.json'])(
  '%s is not on the host of what strangers wrote, and on every other',
  async (path) => {
    for (const host of ['svc.example.com', '10.0.0.11:4780']) {
      expect((await ask(path, host)).status).toBe(200);
    }
    for (const host of ['content.example.net', 'CONTENT.example.net.:443']) {
      expect((await ask(path, host)).status).toBe(404);
    }
  },
);

it('a link from before it had one leads to it', async () => {
  const path = '/m/0123456789abcdef/evt_x/1/x';
  const { status, headers } = await ask(path, 'svc.example.com');
  expect([status, headers['location']]).toEqual([308, `https://content.example.net${path}`]);
  expect((await ask(path, 'content.example.net')).status).toBe(404);
});
