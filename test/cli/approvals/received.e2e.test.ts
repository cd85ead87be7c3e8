import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import { Svc } from '../../../clients/typescript/svc.ts';
import { FakeClock, temporaryFolder, TestGateway } from '../../helpers/gateway.ts';
import { TestPeople } from '../../gateway/approvals/people.ts';

let test: TestGateway;
let people: TestPeople;
let proxy: Server;
let gateway: string;
/** What happens when a confirmation has come to the proxy; without it, it goes on. */
let onConfirmed: (() => void) | null = null;

beforeEach(async () => {
  onConfirmed = null;
  const clock = new FakeClock(Date.now());
  test = await TestGateway.start({ clock });
  people = await TestPeople.of(test, clock);
  proxy = createServer((incoming, response) => {
    if (onConfirmed && incoming.url?.endsWith('/received')) return onConfirmed();
    const { method, headers } = incoming;
    const passed = request(test.url + incoming.url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(passed);
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  gateway = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
});
afterEach(async () => {
  proxy.closeAllConnections();
  proxy.close();
  await test.stop();
});

const folder = temporaryFolder();
afterAll(() => folder.remove());

/** `svc ask`, as an agent runs it. */
function ask() {
  const env = { SVC_HOME: folder.path, SVC_GATEWAY: gateway, SVC_API_KEY: test.apiKey };
  const line = ['ask', 'approval', 'deploy', 'Deploy v2', '--wait', '60s'];
  const child = spawn(process.execPath, [resolve('dist/svc.cjs'), ...line], { env });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString('utf8');
  });
  return { child, ended: once(child, 'close'), out: () => out };
}

async function open(): Promise<string | undefined> {
  const path = '/v1/requests?status=pending';
  const { body } = await test.call<{ items: { request_id: string }[] }>('GET', path);
  return body.items[0]?.request_id;
}

/** Approves what is asked, once it is asked. */
async function approve(): Promise<string> {
  await expect.poll(open, { timeout: 60_000 }).toBeDefined();
  const id = String(await open());
  await people.decide(id, { verb: 'approve' });
  return id;
}

it('an agent that waited for the answer gets no request.resolved about it afterwards', async () => {
  const { ended, out } = ask();
  await approve();
  expect(await ended).toEqual([0, null]);
  expect(out()).toContain('"status":"approved"');
  expect(await people.events()).toEqual([]);
  expect(await people.events('done')).toHaveLength(1);
});

it('an agent killed between its answer and the confirmation finds the event', async () => {
  const confirmed = new Promise<void>((done) => {
    onConfirmed = done;
  });
  const { child, ended, out } = ask();
  const id = await approve();
  await confirmed;
  // The answer is out before the confirmation is sent.
  await expect.poll(out).toContain('"status":"approved"');
  child.kill('SIGKILL');
  await ended;
  expect(await people.events()).toMatchObject([{ request_id: id, status: 'approved' }]);
});

it('the client of TypeScript closes it, and answers though it cannot', async () => {
  const svc = new Svc({ apiKey: test.apiKey, gateway, note: () => undefined });
  const first = svc.ask.approval('deploy', 'Deploy v2');
  const id = await approve();
  expect(await first).toMatchObject({ request_id: id, approved: true });
  expect(await people.events()).toEqual([]);
  onConfirmed = () => proxy.closeAllConnections();
  const second = svc.ask.approval('deploy', 'Deploy v3');
  const other = await approve();
  expect(await second).toMatchObject({ request_id: other, approved: true });
  expect(await people.events()).toMatchObject([{ request_id: other }]);
});
