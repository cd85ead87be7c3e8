import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../shared/lib/errors.ts';
import { temporaryFolder, TestGateway } from '../../../helpers/gateway.ts';
import { linkToken } from '../../../helpers/outbox.ts';
import { visit } from '../../../helpers/page-visitor.ts';
import { Person, post } from './person.ts';

const EMAIL = 'ana@example.com';
const ONCE = { headers: { 'idempotency-key': 'once' } };

let folder: ReturnType<typeof temporaryFolder>;
let child: ChildProcess | null = null;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => {
  child?.kill('SIGKILL');
  folder.remove();
});

/** A gateway in a process of its own, that dies at a point. */
async function dyingGateway(point: string): Promise<{ url: string; died: Promise<unknown> }> {
  const script = 'test/gateway/auth/sign-in/dying-program.ts';
  const started = spawn(process.execPath, ['--import', 'tsx', script, folder.path, point], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child = started;
  const died = once(started, 'exit');
  const first = once(createInterface(started.stdout), 'line') as Promise<[string]>;
  const [url] = await Promise.race([
    first,
    died.then(() => Promise.reject(new Error('The gateway did not start.'))),
  ]);
  return { url, died };
}

/** Signs in and asks for a project, of which the gateway dies. Answers the sign-in, which is used by then. */
async function dieOf(point: string): Promise<string> {
  const gateway = await dyingGateway(point);
  const { body } = await post(gateway, '/v1/auth/start', { email: EMAIL });
  const token = await linkToken(folder.path, 's');
  const typed = { code: String(body['user_code']) };
  await visit(`${gateway.url}/s/${token}`, { button: 'Confirm', typed });
  const login_id = String(body['login_id']);
  const wanted = { login_id, name: 'Acme Shop' };
  await expect(post(gateway, '/v1/projects', wanted, ONCE)).rejects.toThrow('fetch failed');
  const [, signal] = (await gateway.died) as [number | null, string | null];
  expect(signal).toBe('SIGKILL');
  return login_id;
}

const ops = async (gateway: TestGateway, key: string) => {
  const { body } = await gateway.call<{ items: { op: string }[] }>('GET', '/v1/ledger', { key });
  return body.items.map(({ op }) => op).toReversed();
};

/** The project is whole, and whoever signs in again finds it and takes a key. */
async function expectWhole(ana: Person): Promise<string> {
  const { gateway } = ana;
  const login = await ana.confirmed();
  const [project, ...others] = await ana.projects(login);
  expect([project?.slug, others]).toEqual(['acme-shop', []]);
  const taken = await ana.takeKey(login, { project_id: project?.id });
  expect(taken.status).toBe(201);
  const key = String(taken.body['api_key']);
  const channels = await gateway.call('GET', '/v1/channels', { key });
  expect(channels.body).toMatchObject({
    items: [{ owner: true, status: 'active', address: 'a***@example.com' }],
  });
  const verified = await gateway.call('POST', '/v1/ledger/verify', { key, body: {} });
  expect(verified.body).toMatchObject({ ok: true });
  return key;
}

describe('a gateway that dies while it makes a project', () => {
  const BEGUN = ['project.created', 'channel.owner_set'];

  it.each([
    ['reserved', [...BEGUN, 'key.created']],
    ['opened', [...BEGUN, 'key.created']],
    // The secret of the first one was in the answer that nobody got.
    ['made', [...BEGUN, 'key.created', 'key.created']],
  ])('has finished it after its next start: %s', async (point, entries) => {
    const login = await dieOf(point);
    const gateway = await TestGateway.start({ folder: folder.path, signIn: true });
    try {
      const ana = new Person(gateway, EMAIL);
      const repeated = await ana.create(login, {}, ONCE);
      expect([repeated.status, repeated.code]).toEqual([409, 'LOGIN_CONSUMED']);
      const key = await expectWhole(ana);
      expect(await ops(gateway, key)).toEqual(entries);
    } finally {
      await gateway.stop();
    }
  });

  it('gives the answer that was lost to a repeat of the call: confirmed', async () => {
    const login = await dieOf('confirmed');
    const gateway = await TestGateway.start({ folder: folder.path, signIn: true });
    try {
      const ana = new Person(gateway, EMAIL);
      const repeated = await ana.create(login, {}, ONCE);
      expect(repeated.status).toBe(201);
      const key = String(repeated.body['api_key']);
      expect(await ops(gateway, key)).toEqual([...BEGUN, 'key.created']);
      expect((await ana.create(login)).code).toBe('LOGIN_CONSUMED');
      await expectWhole(ana);
    } finally {
      await gateway.stop();
    }
  });
});

describe('a project that cannot be made just now', () => {
  it('keeps its place and its slug, and is finished when its owner signs in again', async () => {
    const gateway = await TestGateway.start({ folder: folder.path, signIn: true });
    try {
      const ana = new Person(gateway, EMAIL);
      const { projects } = gateway.gateway;
      const find = projects.find.bind(projects);
      projects.find = () => Promise.reject(new ServiceError('UNAVAILABLE'));
      const login = await ana.confirmed();
      expect((await ana.create(login)).code).toBe('UNAVAILABLE');
      // Not even now: whoever signs in is told of the others all the same.
      expect(await ana.projects(await ana.confirmed())).toEqual([]);
      projects.find = find;
      const key = await expectWhole(ana);
      expect(await ops(gateway, key)).toEqual([
        'project.created',
        'channel.owner_set',
        'key.created',
      ]);
    } finally {
      await gateway.stop();
    }
  });
});
