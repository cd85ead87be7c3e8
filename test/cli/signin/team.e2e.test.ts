import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestGateway } from '../../helpers/gateway.ts';
import { linkToken } from '../../helpers/outbox.ts';
import { visit } from '../../helpers/page-visitor.ts';
import { Machine } from './machine.ts';

const EMAIL = 'ana@example.com';
const CODE = /[A-Z]+-[A-Z]+-\d\d/;

let gateway: TestGateway;
let first: Machine;
let second: Machine;
beforeEach(async () => {
  gateway = await TestGateway.start({ signIn: true });
  [first, second] = [new Machine(), new Machine()];
});
afterEach(async () => {
  first.remove();
  second.remove();
  await gateway.stop();
});

/** The command as a process of its own: what it prints, and what others could see of it. */
class Process {
  readonly child: ChildProcess;
  stdout = '';
  stderr = '';

  constructor(machine: Machine, argv: readonly string[]) {
    const { SVC_API_KEY: _, SVC_GATEWAY: __, ...env } = process.env;
    const args = [resolve('dist/svc.cjs'), ...argv];
    this.child = spawn(process.execPath, args, { env: { ...env, SVC_HOME: machine.home } });
    this.child.stdout?.on('data', (chunk: Buffer) => (this.stdout += chunk.toString('utf8')));
    this.child.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString('utf8')));
  }

  async ended(): Promise<unknown> {
    const [code] = (await once(this.child, 'close')) as unknown[];
    return code;
  }
}

/** Waits until a process shows its code: it takes a while to start, and its mail has gone by then. */
async function showsCode(shownBy: () => string): Promise<void> {
  await expect.poll(shownBy).toMatch(CODE);
}

/** What every user of the machine can read while it waits. */
async function commandLine({ pid }: ChildProcess): Promise<string> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'args=', '-p', String(pid)]);
  expect(stdout).toContain('login');
  return stdout;
}

function keyOf(machine: Machine, profile: string): string {
  return machine.credentials.profiles[profile]?.api_key ?? '';
}

/** Types the code of a process and presses a button on the page behind the newest of so many links. */
async function press(button: string, count: number, shownBy: () => string): Promise<void> {
  await showsCode(shownBy);
  const token = await linkToken(gateway.folder, 's', count);
  const [code = ''] = CODE.exec(shownBy()) ?? [];
  await visit(`${gateway.url}/s/${token}`, { button, typed: { code } });
}

describe('signing in to a real gateway', () => {
  it('makes a project on one machine, joins it on another, and signs out of both', async () => {
    const argv = ['login', '--gateway', gateway.url, '--email', EMAIL];
    const making = new Process(first, [...argv, '--create', 'Web shop']);
    const made = making.ended();
    await showsCode(() => making.stderr);
    expect(await commandLine(making.child)).not.toMatch(/svc_live_|lgn_/);
    await press('Confirm', 1, () => making.stderr);
    expect(await made).toBe(0);
    expect(JSON.parse(making.stdout)).toMatchObject({ profile: 'web-shop', gateway: gateway.url });
    const key = keyOf(first, 'web-shop');
    expect(key).toMatch(/^svc_live_/);
    expect(first.mode).toBe(0o600);
    expect(making.stdout + making.stderr).not.toContain(key);
    expect((await first.svc(['whoami'])).stdout).toContain('"name":"Web shop"');

    const joining = new Process(second, argv);
    const joined = joining.ended();
    await press('Confirm', 2, () => joining.stderr);
    expect(await joined).toBe(0);
    expect(second.credentials.current).toBe('web-shop');
    expect(keyOf(second, 'web-shop')).not.toBe(key);

    const out = await second.svc(['logout']);
    expect([out.code, JSON.parse(out.stdout)]).toMatchObject([0, { key: 'revoked' }]);
    const refused = await first.svc(['logout']);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('--keep-key')]);
    expect((await first.svc(['logout', '--keep-key'])).code).toBe(0);
    expect(first.credentials.profiles).toEqual({});
  });

  it('lets somebody else in with a key that the owner made', async () => {
    const owner = new Process(first, ['login', '--gateway', gateway.url, '--email', EMAIL]);
    const made = owner.ended();
    await press('Confirm', 1, () => owner.stderr);
    expect(await made).toBe(0);
    const scopes = ['--scopes', 'inbox:read,disk'];
    const created = await first.svc(['key', 'create', '--name', 'bob', ...scopes]);
    const { api_key: key } = JSON.parse(created.stdout) as { api_key: string };

    const bob = new Process(second, ['login', '--gateway', gateway.url, '--with-key', '-']);
    bob.child.stdin?.end(`${key}\n`);
    expect([await bob.ended(), bob.stderr]).toEqual([0, '']);
    expect(bob.stdout).toBe(owner.stdout);
    expect(keyOf(second, second.credentials.current)).toBe(key);
    const { stdout } = await second.svc(['whoami']);
    expect(JSON.parse(stdout)).toMatchObject({ key: { name: 'bob' } });
  });

  it('says so when the person behind the address says that it was somebody else', async () => {
    const argv = ['login', '--gateway', gateway.url, '--email', EMAIL];
    const signing = new Process(first, argv);
    const ended = signing.ended();
    await press('This was not me', 1, () => signing.stderr);
    expect(await ended).toBe(5);
    expect(signing.stderr).toContain(
      'LOGIN_EXPIRED: This sign-in was refused on the linked page, or the code was wrong twice.\n',
    );
    expect(first.pending).toEqual([]);
  });
});
