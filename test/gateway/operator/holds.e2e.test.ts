import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MigrationService } from '../../../gateway/operator/migration-service.ts';
import { FakeClock, TestGateway, temporaryFolder } from '../../helpers/gateway.ts';
import { linkToken } from '../../helpers/outbox.ts';
import { visit } from '../../helpers/page-visitor.ts';
import { LOOPBACK, Receiver } from '../callbacks/callback-receiver.ts';
import { operator } from '../admin/operator.ts';
import { TestDisk } from '../../shared/operations/disk.ts';
import { projectOf, Routes } from '../../shared/operations/route/routes.ts';
import { Person } from '../auth/sign-in/person.ts';

const TO = 'https://svc.example.com';
const HELD = {
  status: 503,
  body: { error: { code: 'UNAVAILABLE', details: { retry_after: 5 } } },
};

let folder: ReturnType<typeof temporaryFolder>;
let clock: FakeClock;
let gateway: TestGateway;
let moves: MigrationService;
let name: string;

async function start(): Promise<void> {
  const options = { clock, signIn: true, callbackAllow: LOOPBACK };
  gateway = await TestGateway.start({ ...options, folder: folder.path });
  moves = gateway.gateway.operator.moves;
  name = gateway.projectId;
}

beforeEach(async () => {
  folder = temporaryFolder();
  clock = new FakeClock();
  await start();
});
afterEach(async () => {
  await gateway.stop();
  folder.remove();
});

const put = (key: string, body: unknown = 1) => gateway.call('PUT', `/v1/kv/${key}`, { body });

describe('a project that is held', () => {
  it('is read, and refuses every write so that it comes again', async () => {
    const hook = await gateway.addSource({ name: 'open' });
    await put('before');
    expect(await moves.hold(name)).toMatchObject({ state: 'held', moved_to: null, changed: true });
    const refused = await put('after');
    expect(refused).toMatchObject(HELD);
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(JSON.stringify(refused.body)).toContain('is moving to another gateway');
    expect(await gateway.deliver(hook, '{"n":1}')).toMatchObject(HELD);
    const upload = { 'content-type': 'text/plain', authorization: `Bearer ${gateway.apiKey}` };
    const file = await fetch(`${gateway.url}/v1/files/a`, {
      method: 'PUT',
      headers: upload,
      body: Buffer.alloc(400_000),
    });
    expect(file.status).toBe(503);
    expect(await gateway.call('GET', '/v1/kv/before')).toMatchObject({ status: 200 });
    expect(await gateway.call('GET', '/v1/inbox')).toMatchObject({ body: { items: [] } });
    // A refusal leaves nothing in the ledger either.
    const ledger = await gateway.call<{ items: { op: string }[] }>('GET', '/v1/ledger');
    expect(ledger.body.items[0]?.op).toBe('kv_set');
  });

  it('goes on serving links, and counts what they sent once it is released', async () => {
    const disk = await TestDisk.of(gateway, () => clock.now());
    const link = await disk.addLink('a', await disk.addFile('a', Buffer.from('linked')));
    const download = async () => (await fetch(link)).text();
    await moves.hold(name);
    expect([await download(), await download()]).toEqual(['linked', 'linked']);
    await moves.release(name);
    expect(await download()).toBe('linked');
    const { body } = await gateway.call<{ transfer: unknown }>('GET', '/v1/usage');
    expect(body.transfer).toMatchObject({ used_bytes: 18 });
  });

  it('takes what comes again once it is released', async () => {
    const hook = await gateway.addSource({ name: 'open' });
    await moves.hold(name);
    expect((await gateway.deliver(hook, '{"n":1}')).status).toBe(503);
    expect(await moves.release(name)).toMatchObject({ state: 'active', changed: true });
    expect(await moves.release(name)).toMatchObject({ changed: false });
    expect((await gateway.deliver(hook, '{"n":1}')).body).toMatchObject({ status: 'accepted' });
    expect((await put('after')).status).toBe(200);
  });

  it('goes on answering a repeat of what it answered before', async () => {
    const headers = { 'idempotency-key': 'once' };
    const first = await gateway.call('PUT', '/v1/kv/a', { body: 1, headers });
    await moves.hold(name);
    expect((await gateway.call('PUT', '/v1/kv/a', { body: 1, headers })).body).toEqual(first.body);
  });

  it('lets those who wait wait on, until something comes', async () => {
    const hook = await gateway.addSource({ name: 'open' });
    const waiting = gateway.call('GET', '/v1/inbox/wait?timeout_seconds=30');
    await expect.poll(() => gateway.gateway.gauges.waits).toBe(1);
    await moves.hold(name);
    expect(gateway.gateway.gauges.waits).toBe(1);
    await moves.release(name);
    const { body } = await gateway.deliver(hook, '{"n":1}');
    expect((await waiting).body).toMatchObject({ event: { id: body['event_id'] } });
  });

  it('stays held over a restart', async () => {
    const { apiKey: key, projectId: id } = gateway;
    await put('before');
    await moves.hold(id);
    await gateway.stop({ keepFolder: true });
    await start();
    const one = { body: 1, key };
    expect(await gateway.call('PUT', '/v1/kv/after', one)).toMatchObject(HELD);
    expect((await gateway.call('GET', '/v1/kv/before', { key })).status).toBe(200);
    // Another project of the gateway is none of it.
    expect((await put('after')).status).toBe(200);
    expect(await moves.hold(id)).toMatchObject({ changed: false });
    await moves.release(id);
    expect((await gateway.call('PUT', '/v1/kv/after', one)).status).toBe(200);
  });

  it('sends nothing, and what fell due is sent once it is released', async () => {
    const receiver = await Receiver.start();
    const routes = new Routes(gateway);
    receiver.answer(500);
    const { id: routeId } = await routes.add(receiver.url());
    await routes.event();
    await routes.attempted(routeId, 1);
    await moves.hold(name);
    clock.advance(3_600_000);
    const project = await projectOf(gateway);
    project.atLatest(clock.now());
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(receiver.got).toHaveLength(1);
    receiver.answer(204);
    await moves.release(name);
    await routes.attempted(routeId, 2);
    expect(receiver.got).toHaveLength(2);
    await receiver.stop();
  });

  it('is held only when what is being sent is written down', async () => {
    const receiver = await Receiver.start();
    const routes = new Routes(gateway);
    receiver.hold();
    const { id: routeId } = await routes.add(receiver.url());
    await routes.event();
    await expect.poll(() => receiver.got.length).toBe(1);
    const held = moves.hold(name);
    // Meanwhile nothing new is taken.
    await expect.poll(async () => (await put('after')).status).toBe(503);
    receiver.letGo();
    await held;
    expect((await routes.newest(routeId)).status).toBe('delivered');
    await receiver.stop();
  });

  it('takes no decision, and the link works once it is released', async () => {
    const body = { action: 'deploy', summary: 'Deploy', wait_seconds: 0 };
    await gateway.call('POST', '/v1/requests', { body });
    const link = `${gateway.url}/a/${await linkToken(folder.path)}`;
    await moves.hold(name);
    expect((await fetch(link)).status).toBe(200);
    await expect(visit(link, { button: 'Approve' })).rejects.toThrow('503');
    await moves.release(name);
    expect(await visit(link, { button: 'Approve' })).toContain('Approved');
  });

  it('gives no key to who signs in, and the sign-in is not used up', async () => {
    const person = new Person(gateway, 'ana@example.com');
    const { project } = await person.project({ name: 'Shop' });
    await moves.hold(project.slug);
    const login = await person.confirmed();
    const wanted = { project_id: project.id };
    const refused = await person.takeKey(login, wanted);
    expect([refused.status, refused.code]).toEqual([503, 'UNAVAILABLE']);
    await moves.release(project.slug);
    expect((await person.takeKey(login, wanted)).status).toBe(201);
  });
});

describe('a project that is to be closed by the receipt of an import', () => {
  it('stays as it is if that was an import of an older copy', async () => {
    const { apiKey: key, projectId: id } = gateway;
    await moves.hold(id);
    await expect(
      moves.leave(id, { to: TO, receipt: 'imp_5d41402abc4b2a76b9719d9110' }),
    ).rejects.toMatchObject({
      code: 'PRECONDITION_FAILED',
      hint: expect.stringContaining('receipt of another copy'),
    });
    expect((await gateway.call('GET', '/v1/inbox', { key })).status).toBe(200);
    await moves.release(id);
    expect((await gateway.call('PUT', '/v1/kv/a', { key, body: { a: 1 } })).status).toBe(200);
  });
});

describe('a project that has moved', () => {
  it('answers nothing but where it is, also after a restart', async () => {
    const hook = await gateway.addSource({ name: 'open' });
    const { apiKey: key, projectId: id } = gateway;
    await moves.hold(id);
    expect(await moves.leave(id, { to: TO, receipt: null })).toMatchObject({
      state: 'moved',
      moved_to: TO,
    });
    const check = async (): Promise<void> => {
      const read = await gateway.call('GET', '/v1/inbox', { key });
      expect(read).toMatchObject({
        status: 503,
        body: { error: { code: 'UNAVAILABLE', details: { retry_after: 60, moved_to: TO } } },
      });
      expect(JSON.stringify(read.body)).toContain(`This project has moved to ${TO}.`);
      const { pathname } = new URL(hook);
      expect((await gateway.deliver(gateway.url + pathname, '{}')).status).toBe(503);
    };
    await check();
    await gateway.stop({ keepFolder: true });
    await start();
    await check();
    const page = await gateway.gateway.operator.list(10, undefined);
    const line = page.items.find((item) => item.id === id);
    expect(line).toMatchObject({ state: 'moved', moved_to: TO, emails: null });
  });

  it('ends waits and streams', async () => {
    const waiting = gateway.call('GET', '/v1/inbox/wait?timeout_seconds=30');
    await expect.poll(() => gateway.gateway.gauges.waits).toBe(1);
    await moves.hold(name);
    await moves.leave(name, { to: null, receipt: null });
    expect([200, 503]).toContain((await waiting).status);
    expect(JSON.stringify((await gateway.call('GET', '/v1/inbox')).body)).toContain(
      'has moved to another gateway.',
    );
  });

  it('may be told another address, and does not come back', async () => {
    await moves.hold(name);
    await moves.leave(name, { to: null, receipt: null });
    expect(await moves.leave(name, { to: null, receipt: null })).toMatchObject({ changed: false });
    expect(await moves.leave(name, { to: TO, receipt: null })).toMatchObject({
      changed: true,
      moved_to: TO,
    });
    for (const order of [moves.hold(name), moves.release(name)]) {
      await expect(order).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' });
    }
  });

  it('comes back where its import failed, if the operator says that nothing arrived', async () => {
    const hook = await gateway.addSource({ name: 'open' });
    await moves.hold(name);
    await moves.leave(name, { to: TO, receipt: null });
    await expect(moves.release(name)).rejects.toMatchObject({
      hint: expect.stringMatching(/svc gateway project release t-\d+ --not-moved$/),
    });
    const released = await moves.release(name, true);
    expect(released).toMatchObject({ state: 'active', moved_to: null, changed: true });
    expect((await put('after')).status).toBe(200);
    expect((await gateway.deliver(hook, '{}')).status).toBe(200);
    const { apiKey: key } = gateway;
    await gateway.stop({ keepFolder: true });
    await start();
    const { status } = await gateway.call('PUT', '/v1/kv/again', { body: 1, key });
    expect(status).toBe(200);
  });

  it('is in a backup by its name alone once its data are removed', async () => {
    await moves.hold(name);
    await moves.leave(name, { to: TO, receipt: null });
    await gateway.stop({ keepFolder: true });
    rmSync(join(folder.path, 'projects', name), { recursive: true });
    const backup = join(folder.path, 'backup');
    const { code, out } = await operator(['backup', backup, '--data', folder.path]);
    expect([code, out]).toEqual([0, expect.stringContaining('1 project, 0 blobs')]);
    await start();
  });

  it('has to be held before', async () => {
    await expect(moves.leave(name, { to: TO, receipt: null })).rejects.toMatchObject({
      code: 'PRECONDITION_FAILED',
      hint: expect.stringContaining('--hold'),
    });
    expect((await put('after')).status).toBe(200);
  });

  it('is not found under another name', async () => {
    await expect(moves.hold('nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
