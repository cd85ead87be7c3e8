import { EventEmitter, once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Databases, type RemoteStore } from '../../../gateway/store/databases.ts';
import { StartRefusal } from '../../../shared/host/start-refusal.ts';
import { FakeClock, TestGateway, temporaryFolder } from '../../helpers/gateway.ts';
import { startHrana, type HranaServer } from '../../helpers/hrana/server.ts';
import { PATIENT } from '../../helpers/shared-store.ts';
import { stopTime } from '../../helpers/stopped-time.ts';
import { refused } from '../approvals/people.ts';
import { Person } from '../auth/sign-in/person.ts';
import { Pair } from './pair.ts';

describe('a gateway with another master key', () => {
  it('is refused at its start, in words', async () => {
    const pair = await Pair.start();
    const options = { store: pair.shared.store, folder: join(pair.folder, 'c') };
    const starting = TestGateway.start(options);
    await expect(starting).rejects.toBeInstanceOf(StartRefusal);
    await expect(starting).rejects.toThrow(
      "SVC_MASTER_KEY_FILE: the secrets in this store were sealed with another key. All gateways of a store need the same key: copy it from the first gateway's data folder.",
    );
    expect((await pair.b.call('GET', '/v1/inbox')).status).toBe(200);
    await pair.stop();
  });
});

describe('the rate of a key', () => {
  it('is counted by each gateway: two let twice as much through', async () => {
    const pair = await Pair.start({ clock: new FakeClock(), ratePerMinute: 60 });
    const statuses = new Map<TestGateway, number[]>();
    for (const gateway of [pair.a, pair.b]) {
      const answers = await Promise.all(
        Array.from({ length: 105 }, () => gateway.call('GET', '/v1/kv/none')),
      );
      statuses.set(
        gateway,
        answers.map(({ status }) => status),
      );
    }
    for (const of of statuses.values()) {
      expect(of.filter((status) => status === 200)).toHaveLength(100);
      expect(of.filter((status) => status === 429)).toHaveLength(5);
    }
    await pair.stop();
  });
});

/** A gateway that has reserved a project when it `begun`, and makes it on `go`. */
function slowFounding({ gateway: { projects } }: TestGateway) {
  const find = projects.find.bind(projects);
  const gate = new EventEmitter();
  const begun = once(gate, 'begun');
  projects.find = async (id) => {
    gate.emit('begun');
    await once(gate, 'go');
    return find(id);
  };
  const go = (): void => {
    projects.find = find;
    gate.emit('go');
  };
  return { begun, go };
}

describe('signing in over two gateways', () => {
  let pair: Pair;
  let clock: FakeClock;
  beforeEach(async () => {
    clock = new FakeClock();
    pair = await Pair.start({ clock, signIn: true });
  });
  afterEach(() => pair.stop());

  it('begins at one, is confirmed at the other, and founds one project', async () => {
    const [onA, onB] = [pair.a, pair.b].map((gateway) => new Person(gateway, 'ana@example.com'));
    if (!onA || !onB) throw new Error('There are two.');
    const { link, login_id, user_code } = await onA.start();
    await onB.confirm({ link: link.replace(pair.a.url, pair.b.url), user_code });
    expect(await onB.projects(login_id)).toEqual([]);
    const answers = await Promise.all(
      [onA, onB].map((person) =>
        person.create(login_id, { name: 'Acme' }, { headers: { 'idempotency-key': 'once' } }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    const [made, again] = answers;
    expect(made?.text).toBe(again?.text);
    const key = String(made?.body['api_key']);
    for (const gateway of [pair.a, pair.b]) {
      const { body } = await gateway.call<{ items: unknown[] }>('GET', '/v1/keys', { key });
      expect(body.items).toHaveLength(1);
    }
  });

  it('answers both alike, however long the first one takes', async () => {
    const [onA, onB] = [pair.a, pair.b].map((gateway) => new Person(gateway, 'ana@example.com'));
    if (!onA || !onB) throw new Error('There are two.');
    const login = await onA.confirmed();
    const repeatable = { headers: { 'idempotency-key': 'once' } };
    // A busy machine is slower than the time that either gateway gives the other one.
    stopTime();
    const { begun, go } = slowFounding(pair.a);
    const first = onA.create(login, {}, repeatable);
    await begun;
    const second = onB.create(login, {}, repeatable);
    for (let n = 0; n < 50; n += 1) {
      expect((await pair.b.call('GET', '/v1/kv/none')).status).toBe(200);
    }
    go();
    const [made, again] = await Promise.all([first, second]);
    expect([made.status, again.status]).toEqual([201, 201]);
    expect(again.text).toBe(made.text);
  });

  it('without an Idempotency-Key uses the sign-in up once', async () => {
    const onA = new Person(pair.a, 'ana@example.com');
    const onB = new Person(pair.b, 'ana@example.com');
    const login = await onA.confirmed();
    const answers = await Promise.all([onA.create(login), onB.create(login)]);
    expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([null, 'LOGIN_CONSUMED']));
  });

  it('while a project is being made, the other gateway finishes nothing wrongly', async () => {
    const onA = new Person(pair.a, 'ana@example.com');
    const onB = new Person(pair.b, 'ana@example.com');
    const login = await onA.confirmed();
    const other = await onB.confirmed();
    clock.advance(5000);
    const [made, projects] = await Promise.all([onA.create(login), onB.projects(other)]);
    expect(made.status).toBe(201);
    expect(projects.length).toBeLessThan(2);
    const key = String(made.body['api_key']);
    const { body } = await pair.b.call<{ items: { op: string }[] }>('GET', '/v1/ledger', { key });
    const ops = body.items.map(({ op }) => op).toSorted();
    expect(ops).toEqual(['channel.owner_set', 'key.created', 'project.created']);
  });
});

const storeOf = ({ url }: HranaServer): RemoteStore => ({
  url: `${url}/{project}/`,
  token: null,
  maker: { url: `${url}/v1/namespaces/{project}/create`, token: null },
});

describe('a server that is asked for each database', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let server: HranaServer;
  let gateway: TestGateway;
  beforeEach(async () => {
    folder = temporaryFolder();
    server = await startHrana({ ...PATIENT, folder: join(folder.path, 'server'), create: 'api' });
    gateway = await TestGateway.start({ store: storeOf(server), folder: join(folder.path, 'a') });
  });
  afterEach(async () => {
    await gateway.stop();
    await server.stop();
    folder.remove();
  });

  it('is asked for a new project', async () => {
    expect((await gateway.call('PUT', '/v1/kv/a', { body: 1 })).status).toBe(200);
  });

  it('is not asked again for a project whose database is lost, which is UNAVAILABLE', async () => {
    await gateway.stop({ keepFolder: true });
    await server.stop();
    const name = gateway.projectId.replace('_', '-');
    rmSync(join(folder.path, 'server', name), { recursive: true });
    server = await startHrana({ ...PATIENT, folder: join(folder.path, 'server'), create: 'api' });
    gateway = await TestGateway.start({
      store: storeOf(server),
      folder: join(folder.path, 'a'),
      projectOf: gateway,
    });
    expect(await gateway.call('GET', '/v1/inbox')).toMatchObject(refused(503, 'UNAVAILABLE'));
    expect(await gateway.call('GET', '/v1/inbox')).toMatchObject(refused(503, 'UNAVAILABLE'));
    const other = await gateway.gateway.createProject({ name: 'Other', slug: 'other' });
    expect((await gateway.call('GET', '/v1/inbox', { key: other.apiKey })).status).toBe(200);
  });

  it('is asked again for a project that it could not make', async () => {
    let isDown = true;
    const asked: string[] = [];
    const door = createServer((request, response) => {
      asked.push(request.url ?? '');
      if (isDown) return void response.writeHead(500).end('not now');
      void fetch(server.url + request.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      }).then(async (answer) => response.writeHead(answer.status).end(await answer.text()));
    });
    await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
    const { port } = door.address() as AddressInfo;
    const maker = { url: `http://127.0.0.1:${port}/v1/namespaces/{project}/create`, token: null };
    const databases = new Databases(folder.path, { ...storeOf(server), maker });
    await expect(databases.makeProject('prj_0123456789abcdef')).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      details: { retry_after: 5 },
    });
    isDown = false;
    // Made twice is as good as once.
    await databases.makeProject('prj_0123456789abcdef');
    await databases.makeProject('prj_0123456789abcdef');
    expect(asked).toEqual(Array<string>(3).fill('/v1/namespaces/prj-0123456789abcdef/create'));
    door.closeAllConnections();
    await new Promise((resolve) => door.close(resolve));
  });
});
