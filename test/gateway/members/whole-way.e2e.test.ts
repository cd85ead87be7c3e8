import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../../helpers/programs.ts';
import { filesUnder } from '../../helpers/files.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { linkToken } from '../../helpers/outbox.ts';
import { visit } from '../../helpers/page-visitor.ts';
import { runMark } from '../../helpers/reaper.ts';
import { TeamGateway } from '../../helpers/team.ts';
import { WebVisitor } from '../web/inbox/web-visitor.ts';

const folder = temporaryFolder();
const data = join(folder.path, 'gateway');
const svc = resolve('dist/svc.cjs');
let gateway: TeamGateway;

beforeAll(async () => {
  const listen = `127.0.0.1:${await freePort()}`;
  gateway = await TeamGateway.start({ dataFolder: data, listen, env: { SVC_SIGN_UP: 'closed' } });
});
afterAll(async () => {
  await machine('adam')(['down']).catch(() => null);
  await gateway.end();
  folder.remove();
});

type Json = Record<string, unknown>;

/** The command on a machine with a home of its own: runs it, and answers what it printed as JSON. */
function machine(
  name: string,
): (args: readonly string[], told?: (text: string) => void) => Promise<Json> {
  return async (args, told) => {
    const { SVC_API_KEY: _, SVC_GATEWAY: __, ...env } = process.env;
    const home = join(folder.path, name);
    const child = spawn(process.execPath, [svc, ...args, '--json'], {
      env: { ...env, ...runMark(), SVC_HOME: home },
    });
    let out = '';
    let err = '';
    child.stdout.on('data', (bytes: Buffer) => (out += bytes.toString()));
    child.stderr.on('data', (bytes: Buffer) => {
      err += bytes.toString();
      told?.(err);
    });
    const [code] = (await once(child, 'close')) as [number];
    if (code !== 0) throw new Error(`svc ${args.join(' ')} ended with ${code}: ${err}${out}`);
    return JSON.parse(out) as Json;
  };
}

const CODE = /"user_code":\s*"([^"]+)"/;

let logins = 0;

/** Signs in on a machine, and types its code on the page behind the mailed link. */
async function login(name: string, email: string, more: readonly string[]): Promise<Json> {
  let told = '';
  const argv = ['login', '--gateway', gateway.url, '--email', email, ...more];
  const begun = machine(name)(argv, (text) => (told = text));
  logins += 1;
  await until(() => CODE.test(told));
  const [, code = ''] = CODE.exec(told) ?? [];
  const token = await linkToken(data, 's', logins);
  await visit(`${gateway.url}/s/${token}`, { button: 'Confirm', typed: { code } });
  return begun;
}

const replicaOf = (name: string): string[] =>
  filesUnder(join(folder.path, name)).filter((path) => path.endsWith('/replica.db'));

async function until(what: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 60_000;
  while (!(await what())) {
    if (performance.now() > end) throw new Error('It took too long.');
    await new Promise((done) => setTimeout(done, 20));
  }
}

it('a person is invited by mail, signs in on their machine, decides in the web, and is removed', async () => {
  const ana = machine('ana');
  const adam = machine('adam');
  await login('ana', 'ana@example.com', ['--create', 'shop']);

  // By a key, the owner must approve the power to decide.
  const invited = await ana(['member', 'invite', 'adam@example.com', '--role', 'admin']);
  expect(invited).toMatchObject({ member: { status: 'asked' } });
  const asking = await linkToken(data, 'a', 1);
  await visit(`${gateway.url}/a/${asking}`, { button: 'Approve' });
  const { id } = invited['member'] as { id: string };

  const browser = new WebVisitor({ url: gateway.url });
  const joined = await browser.enter(`/ui/join/${await linkToken(data, 'ui/join', 1)}`);
  expect(joined.location).toBe('/ui/p/shop/members?joined=1');
  expect((await browser.get(joined.location ?? '')).html).toContain('You joined as admin');

  await login('adam', 'adam@example.com', ['--project', 'shop']);
  expect(await adam(['up', '--port', '0'])).toMatchObject({ mode: 'replica' });
  await until(() => replicaOf('adam').length > 0);
  await ana(['kv', 'set', 'greeting', '"hello"']);
  expect(await adam(['kv', 'get', 'greeting'])).toMatchObject({ value: 'hello' });

  const ask = ['ask', 'approval', 'deploy', 'Deploy v2', '--wait-seconds', '0'];
  const asked = await ana(ask).catch(
    (error: Error) => JSON.parse(/\{.*\}/.exec(error.message)?.[0] ?? '{}') as Json,
  );
  const page = `/ui/p/shop/requests/${String(asked['request_id'])}`;
  await browser.get(page);
  await browser.post(page, { fields: { verb: 'approve' } });
  const decided = await ana(['request', 'status', String(asked['request_id'])]);
  expect(decided).toMatchObject({ status: 'approved' });

  const removal = await ana(['member', 'remove', id]);
  const request = String(removal['request_id']);
  const tokens = await linkToken(data, 'a', 2);
  expect([request.startsWith('req_'), tokens.length > 0]).toEqual([true, true]);
  const owner = new WebVisitor({ url: gateway.url });
  await owner.get('/ui/sign-in');
  await owner.post('/ui/sign-in', { fields: { email: 'ana@example.com' } });
  await owner.enter(`/ui/sign-in/${await linkToken(data, 'ui/sign-in', 1)}`);
  const member = `/ui/p/shop/members/${id}`;
  await owner.get(`${member}?step=remove`);
  const waiting = adam(['inbox', 'wait', '--type', 'nothing', '--timeout-seconds', '40']).then(
    () => 'an answer',
    (error: Error) => error.message,
  );
  await new Promise((done) => setTimeout(done, 1500));
  // The page says what ended with him.
  expect((await owner.post(member, { fields: { act: 'remove' } })).html).toContain('Ended too');
  await until(() => replicaOf('adam').length === 0);
  expect((await browser.get('/ui/p/shop/members')).status).toBe(404);
  expect(await waiting).toContain('KEY_REVOKED');
  await expect(adam(['kv', 'get', 'greeting'])).rejects.toThrow(/UNAUTHENTICATED|KEY_REVOKED/);
});
