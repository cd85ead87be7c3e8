import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { newProject, type TeamProject } from '../../helpers/team.ts';
import { Hosted } from './hosted.ts';

/** A page of the database, and its header in the log. */
const FRAME_BYTES = 24 + 4096;
const SECRET = 'a secret of the source';
const folder = temporaryFolder();
let project: TeamProject;
let hosted: Awaited<ReturnType<typeof Hosted.start>>;
let receiver: Server;
let url = '';

beforeAll(async () => {
  const data = join(folder.path, 'data');
  project = await newProject(data, 'counted');
  hosted = await Hosted.start({
    SVC_DATA: data,
    SVC_LISTEN: '127.0.0.1:0',
    SVC_CALLBACK_ALLOW: '127.0.0.0/8',
  });
  url = hosted.status.base_url;
  receiver = createServer((request, response) => {
    request.resume();
    response.writeHead(request.url === '/good' ? 204 : 500).end();
  });
  await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done));
});
afterAll(async () => {
  await hosted.end('SIGKILL');
  receiver.closeAllConnections();
  receiver.close();
  folder.remove();
});

async function call(path: string, body?: object): Promise<Record<string, unknown>> {
  const answer = await fetch(url + path, {
    method: body ? 'POST' : 'GET',
    headers: {
      authorization: `Bearer ${project.apiKey}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return (await answer.json()) as Record<string, unknown>;
}

/** The lines of what is counted, without zeros that nobody has asked for. */
async function counted(): Promise<string[]> {
  return (await (await fetch(`${url}/metrics`)).text()).split('\n');
}

async function deliver(hook: string, body: string, secret = SECRET): Promise<void> {
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  await fetch(hook, { method: 'POST', body, headers: { 'x-signature': signature } });
}

it('counts deliveries, events, pushes and letters by outcome', async () => {
  const source = { type: 'webhook', name: 'gh', verification: 'hmac_sha256', secret: SECRET };
  const hook = String((await call('/v1/sources', source))['url']);
  await deliver(hook, '{"n":1}');
  await deliver(hook, '{"n":2}');
  await deliver(hook, '{"n":1}');
  await deliver(hook, '{"n":3}', 'another secret');
  expect(await counted()).toEqual(
    expect.arrayContaining([
      'svc_ingress_total{outcome="accepted"} 2',
      'svc_ingress_total{outcome="duplicate"} 1',
      'svc_ingress_total{outcome="rejected"} 1',
      'svc_events_ready_total 2',
      'svc_open_projects 1',
    ]),
  );

  const { port } = receiver.address() as AddressInfo;
  for (const path of ['good', 'bad']) {
    await call('/v1/routes', { callback_url: `http://127.0.0.1:${port}/${path}` });
  }
  await deliver(hook, '{"n":4}');
  await expect
    .poll(counted)
    .toEqual(
      expect.arrayContaining([
        'svc_pushes_total{outcome="delivered"} 1',
        'svc_pushes_total{outcome="refused"} 1',
      ]),
    );

  await call('/v1/requests', { action: 'deploy', summary: 'Deploy v2', wait_seconds: 0 });
  await expect.poll(counted).toContain('svc_letters_total{channel="email",outcome="sent"} 3');
});

it('counts a replica that came to the end of a log as no failure', async () => {
  const { epoch, generation } = await call('/v1/replica');
  const log = `/v1/replica/${String(epoch)}/sync/${String(generation)}`;
  const headers = { authorization: `Bearer ${project.apiKey}` };
  let answer: Response;
  let from = 1;
  for (;;) {
    answer = await fetch(`${url}${log}/${from}/${from + 128}`, { headers });
    if (answer.status !== 200) break;
    from += (await answer.arrayBuffer()).byteLength / FRAME_BYTES;
  }
  expect([answer.status, await answer.json()]).toEqual([400, { generation }]);
  expect(await counted()).toContain(
    'svc_http_requests_total{method="GET",route="/v1/replica/{epoch}/sync/{generation}/{from}/{to}",status="expected"} 1',
  );
  expect(hosted.log.some((line) => String(line['path']).startsWith(log))).toBe(false);
});

it('shows what is held at the moment', async () => {
  const gone = new AbortController();
  const headers = { authorization: `Bearer ${project.apiKey}` };
  const { signal } = gone;
  const wait = fetch(`${url}/v1/inbox/wait?source=nobody`, { headers, signal }).catch(() => null);
  await fetch(`${url}/v1/replica/changes`, { headers, signal });
  await expect.poll(counted).toEqual(expect.arrayContaining(['svc_waits 1', 'svc_streams 1']));
  gone.abort();
  await wait;
  await expect.poll(counted).toEqual(expect.arrayContaining(['svc_waits 0', 'svc_streams 0']));
});
