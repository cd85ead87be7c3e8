import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Svc } from '../../../clients/typescript/svc.ts';
import { FakeClock, temporaryFolder, TestGateway } from '../../helpers/gateway.ts';
import { McpProcess, settled } from '../../helpers/task-client.ts';
import { TestPeople } from '../../gateway/approvals/people.ts';
import { claudeCode } from '../hooks/payloads.ts';

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

const ASK = ['ask', 'approval', 'deploy', 'Deploy v2', '--wait', '60s'];

/** A command, as an agent runs it. */
function svc(line: readonly string[], key = test.apiKey) {
  const env = { SVC_HOME: folder.path, SVC_GATEWAY: gateway, SVC_API_KEY: key };
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
  const { ended, out } = svc(ASK);
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
  const { child, ended, out } = svc(ASK);
  const id = await approve();
  await confirmed;
  // The answer is out before the confirmation is sent.
  await expect.poll(out).toContain('"status":"approved"');
  child.kill('SIGKILL');
  await ended;
  expect(await people.events()).toMatchObject([{ request_id: id, status: 'approved' }]);
});

it('the answer that a task of svc mcp gave is taken, if its own key read it', async () => {
  const env = { SVC_GATEWAY: gateway, SVC_API_KEY: test.apiKey };
  const own = new McpProcess(folder.path, env);
  const other = new McpProcess(folder.path, { ...env, SVC_API_KEY: await test.key('approvals') });
  const question = { action: 'deploy', summary: 'Deploy v2' };
  const asked = await own.send('tools/call', { name: 'ask_approval', arguments: question });
  const taskId = String(asked.result?.['taskId']);
  await approve();
  const read = await settled(taskId, () => other);
  expect(await people.events()).toHaveLength(1);
  expect(await settled(taskId, () => own)).toBe(read);
  await expect.poll(() => people.events(), { timeout: 60_000 }).toEqual([]);
  for (const one of [own, other]) one.kill();
  const { body: ledger } = await test.call('GET', '/v1/ledger?op=request_received');
  expect(ledger['items']).toMatchObject([{ outcome: 'ok' }]);
});

it('the answer to the prompt of a coding agent is taken', async () => {
  const { child, ended } = svc(['hook', 'run', 'claude-code']);
  child.stdin.end(JSON.stringify(claudeCode('npm publish')));
  await approve();
  expect(await ended).toEqual([0, null]);
  expect(await people.events()).toEqual([]);
  expect(await people.events('done')).toHaveLength(1);
});

it('the client of TypeScript closes it, and answers though it cannot', async () => {
  const client = new Svc({ apiKey: test.apiKey, gateway, note: () => undefined });
  const first = client.ask.approval('deploy', 'Deploy v2');
  const id = await approve();
  expect(await first).toMatchObject({ request_id: id, approved: true });
  expect(await people.events()).toEqual([]);
  onConfirmed = () => proxy.closeAllConnections();
  const second = client.ask.approval('deploy', 'Deploy v3');
  const other = await approve();
  expect(await second).toMatchObject({ request_id: other, approved: true });
  expect(await people.events()).toMatchObject([{ request_id: other }]);
});

async function putMemo(): Promise<void> {
  const headers = { authorization: `Bearer ${test.apiKey}` };
  const answer = await fetch(`${test.url}/v1/files/memo.txt`, {
    method: 'PUT',
    headers,
    body: 'hi',
  });
  expect(answer.ok).toBe(true);
}

describe.each([
  ['a public link', 'file url memo.txt --wait 60s'],
  ['a new policy', 'policy set {"rules":[]} --wait 60s'],
  [
    'a mail',
    'email send --to a@example.com --subject Hi --text Hi --reply-to-inbox false --wait 60s',
  ],
])('the answer about %s', (_, line) => {
  it('that a command showed is no work for a worker afterwards', async () => {
    await putMemo();
    const { ended } = svc(line.split(' '));
    await approve();
    expect(await ended).toEqual([0, null]);
    expect(await people.events()).toEqual([]);
    expect(await people.events('done')).toHaveLength(1);
  });
});

it('a link made later with its approval leaves no request.resolved', async () => {
  await putMemo();
  expect(await svc(['file', 'url', 'memo.txt', '--wait', '0']).ended).toEqual([6, null]);
  const id = await approve();
  expect(await people.events()).toHaveLength(1);
  expect(await svc(['file', 'url', 'memo.txt', '--approval', id]).ended).toEqual([0, null]);
  expect(await people.events()).toEqual([]);
});

it.each(['watch', 'status'])('the answer that svc request %s shows is taken', async (verb) => {
  expect(await svc([...ASK.slice(0, 4), '--wait', '0']).ended).toEqual([6, null]);
  const id = await approve();
  const body = { name: 'another', scopes: ['approvals'] };
  const { body: other } = await test.call<{ api_key: string }>('POST', '/v1/keys', { body });
  expect(await svc(['request', verb, id], other.api_key).ended).toEqual([0, null]);
  expect(await people.events()).toHaveLength(1);
  expect(await svc(['request', verb, id]).ended).toEqual([0, null]);
  expect(await people.events()).toEqual([]);
  const { body: ledger } = await test.call('GET', '/v1/ledger?op=request_received');
  expect(ledger['items']).toMatchObject([{ outcome: 'ok' }]);
});

it('the answer that svc mcp gave its client is taken', async () => {
  const { child, ended, out } = svc(['mcp']);
  const tell = (id: number, method: string, params: object): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  const clientInfo = { name: 'test', version: '1' };
  tell(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  await expect.poll(out, { timeout: 60_000 }).toContain('"id":1');
  const question = { action: 'deploy', summary: 'Deploy v2', wait_seconds: 60 };
  tell(2, 'tools/call', { name: 'ask_approval', arguments: question });
  await approve();
  await expect.poll(out, { timeout: 60_000 }).toContain('"status":"approved"');
  await expect.poll(() => people.events(), { timeout: 60_000 }).toEqual([]);
  child.stdin.end();
  await ended;
});

it('the client of TypeScript closes what its calls for a policy and a mail had asked', async () => {
  const client = new Svc({ apiKey: test.apiKey, gateway, note: () => undefined });
  const set = client.policy.set({ policy: { rules: [] } });
  await approve();
  expect(await set).toMatchObject({ status: 'approved' });
  const mail = { to: ['a@example.com'], subject: 'Hi', text: 'Hi', reply_to_inbox: false };
  const send = client.email.send(mail);
  await approve();
  expect(await send).toMatchObject({ status: 'queued' });
  expect(await people.events()).toEqual([]);
});
