import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newApiKey, newProjectId } from '../../../shared/lib/ids.ts';
import { json } from '../fake-daemon.ts';
import { FakeGateway } from './fake-gateway.ts';
import { Machine } from './machine.ts';

let gateway: FakeGateway;
let machine: Machine;
beforeEach(async () => {
  gateway = await FakeGateway.start();
  machine = new Machine();
});
afterEach(() => {
  gateway.close();
  machine.remove();
});

/** A project of somebody else, and a key of it. */
function keyOf(slug: string): { key: string; project: { id: string } } {
  const project = gateway.addProject(slug);
  const key = newApiKey(project.id);
  gateway.keys.add(key);
  return { key, project };
}

function login(content: string, ...flags: string[]) {
  const file = join(machine.home, 'bob.key');
  writeFileSync(file, content);
  return machine.svc(['login', '--gateway', gateway.url, '--with-key', `@${file}`, ...flags]);
}

describe('svc login --with-key', () => {
  it('stores the key as the current profile, and answers as a sign-in does', async () => {
    const { key, project } = keyOf('acme');
    const { code, stdout, stderr } = await login(`${key}\n`);
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toEqual({ profile: 'acme', project, gateway: gateway.url });
    expect(stdout).not.toContain(key);
    expect(machine.credentials).toEqual({
      profiles: {
        acme: {
          gateway: gateway.url,
          api_key: key,
          project: project.id,
          slug: 'acme',
          name: 'The acme',
        },
      },
      current: 'acme',
    });
    expect(machine.mode).toBe(0o600);
    expect(gateway.seen.map(({ route }) => route)).toEqual(['GET /v1/whoami', 'GET /v1/whoami']);
    expect(gateway.seen[0]?.headers.authorization).toBeUndefined();
  });

  it('takes a name, and gives another where that of the project is taken', async () => {
    const acme = { gateway: 'https://elsewhere.example', api_key: 'svc_live_1', project: 'prj_1' };
    machine.store({ profiles: { acme }, current: 'acme' });
    const { key } = keyOf('acme');
    expect(JSON.parse((await login(key)).stdout)).toMatchObject({ profile: 'acme-2' });
    const { key: books } = keyOf('books');
    expect((await login(books, '--name', 'acme')).code).toBe(2);
    expect(JSON.parse((await login(books, '--name', 'b')).stdout)).toMatchObject({ profile: 'b' });
    expect(Object.keys(machine.credentials.profiles)).toEqual(['acme', 'acme-2', 'b']);
  });

  it('refuses a name of another project of this gateway', async () => {
    await login(keyOf('acme').key);
    const { code, stderr } = await login(keyOf('books').key, '--name', 'acme');
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('The profile "acme" already exists for another'),
    ]);
    expect(Object.keys(machine.credentials.profiles)).toEqual(['acme']);
  });

  it('says that the key before still works only where it was another one', async () => {
    const { key, project } = keyOf('acme');
    await login(key);
    expect((await login(key)).stderr).toBe('');
    const next = newApiKey(project.id);
    gateway.keys.add(next);
    expect((await login(next)).stderr).toContain('The old key still works.');
    expect(machine.credentials.profiles['acme']?.api_key).toBe(next);
  });

  it('stores no key that the gateway does not know', async () => {
    const key = newApiKey(newProjectId());
    const { code, stdout, stderr } = await login(key);
    expect([code, stdout]).toEqual([4, '']);
    expect(stderr).toContain("UNAUTHENTICATED: This gateway doesn't know the key.\n");
    expect(stderr.replaceAll('\n', ' ')).toContain('svc key create --name NAME');
    expect(stderr).not.toContain(key);
    expect(() => machine.credentials).toThrow('ENOENT');
  });

  it('stores no key for a project that it is not of', async () => {
    const key = newApiKey(newProjectId());
    gateway.meddle = ({ headers }, response) => {
      if (headers.authorization === undefined) return false;
      json(response, { project: { id: newProjectId(), slug: 'shop', name: 'Shop' } });
      return true;
    };
    const { code, stderr } = await login(key);
    expect([code, stderr]).toEqual([1, expect.stringContaining('ANSWER_INVALID')]);
    expect(() => machine.credentials).toThrow('ENOENT');
  });

  it.each(['', 'svc_live_x', 'not a key'])('sends nothing for "%s"', async (content) => {
    const { code, stderr } = await login(content);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("USAGE: --with-key didn't read an API key.\n"),
    ]);
    expect(gateway.seen).toEqual([]);
  });

  it('says that a key is no argument without repeating it', async () => {
    const { key } = keyOf('acme');
    const argv = ['login', '--gateway', gateway.url, '--with-key', key];
    const { code, stderr } = await machine.svc(argv);
    expect([code, stderr]).toEqual([2, expect.stringContaining('can read arguments.')]);
    expect(stderr).not.toContain(key);
    expect(gateway.seen).toEqual([]);
  });
});

describe('svc auth token', () => {
  const env = { SVC_GATEWAY: 'https://elsewhere.example' };

  it('says that the stored key belongs to another address than that of SVC_GATEWAY', async () => {
    await login(keyOf('acme').key);
    const { code, stdout, stderr } = await machine.svc(['auth', 'token'], { env });
    expect([code, stdout]).toEqual([4, '']);
    expect(stderr).toContain(
      'UNAUTHENTICATED: SVC_GATEWAY is https://elsewhere.example, but the stored key is for another address.\n',
    );
  });

  it.each([{}, env])('names the ways to a key where none is stored, with %j', async (set) => {
    const { code, stderr } = await machine.svc(['auth', 'token'], { env: set });
    expect([code, stderr.replaceAll('\n', ' ')]).toEqual([
      4,
      "UNAUTHENTICATED: No API key is stored on this machine. To use a project on this machine: svc up. To use a team's: svc login --gateway URL. Or set SVC_API_KEY. ",
    ]);
  });
});
