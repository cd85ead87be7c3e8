import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newApiKey } from '../../../shared/lib/ids.ts';
import { json } from '../fake-daemon.ts';
import { TextSink } from '../fake-output.ts';
import { run } from '../../../cli/run.ts';
import { FakeGateway } from './fake-gateway.ts';
import { Machine } from './machine.ts';

const LOCAL = { gateway: null, api_key: 'svc_live_local', project: 'prj_local' };

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

/** A profile as signing in stores it, with a key that works. */
function signedIn(slug = 'acme') {
  const project = gateway.addProject(slug);
  const apiKey = newApiKey(project.id);
  gateway.keys.add(apiKey);
  const { id, name } = project;
  const email = 'a***@example.com';
  return { gateway: gateway.url, api_key: apiKey, project: id, slug, name, email };
}

function call(...flags: string[]) {
  return machine.svc(['api', 'GET', '/v1/whoami', ...flags]);
}

describe('svc project list', () => {
  it('shows what is stored, without keys and without a call', async () => {
    const acme = signedIn();
    machine.store({ profiles: { default: LOCAL, acme }, current: 'acme' });
    const { code, stdout } = await machine.svc(['project', 'list']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      items: [
        {
          profile: 'default',
          current: false,
          gateway: null,
          project: { id: 'prj_local', slug: null, name: null },
        },
        {
          profile: 'acme',
          current: true,
          gateway: gateway.url,
          project: { id: acme.project, slug: 'acme', name: 'The acme' },
        },
      ],
      next_cursor: null,
    });
    expect(stdout).not.toContain('svc_live_');
    expect(gateway.seen).toEqual([]);
  });

  it('marks the current one on a terminal', async () => {
    const acme = { ...signedIn(), gateway: 'https://gw.example' };
    machine.store({ profiles: { default: LOCAL, acme }, current: 'acme' });
    const [stdout, stderr] = [new TextSink(true, 100), new TextSink()];
    const env = { SVC_HOME: machine.home, NO_COLOR: '1' };
    const { signal } = new AbortController();
    expect(await run(['projects', 'list'], { env, stdout, stderr, signal })).toBe(0);
    expect(stdout.text).toBe(
      `CURRENT  PROFILE  NAME      SLUG       GATEWAY
         default  –         prj_local  this machine
*        acme     The acme  acme       https://gw.example
`,
    );
  });

  it('prints names for the shell', async () => {
    machine.store({ profiles: { default: LOCAL, acme: signedIn() }, current: 'acme' });
    const { stdout } = await machine.svc(['project', 'list', '--names']);
    expect(stdout).toBe('default\nacme\n');
  });

  it('ends with 3 where nothing is stored', async () => {
    const { code, stdout } = await machine.svc(['project', 'list']);
    expect([code, stdout]).toEqual([3, '{"items":[],"next_cursor":null}\n']);
  });
});

describe('svc project use', () => {
  it('makes a profile the current one', async () => {
    const acme = signedIn();
    machine.store({ profiles: { default: LOCAL, acme }, current: 'default' });
    const { code, stdout, stderr } = await machine.svc(['project', 'use', 'acme']);
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toEqual({
      profile: 'acme',
      project: { id: acme.project, slug: 'acme', name: 'The acme' },
      gateway: gateway.url,
      daemon_runs_for: null,
    });
    expect(machine.credentials).toEqual({ profiles: { default: LOCAL, acme }, current: 'acme' });
  });

  it('says that svc up restarts a daemon that runs for another project', async () => {
    machine.store({ profiles: { default: LOCAL, acme: signedIn() }, current: 'default' });
    machine.runsFor('prj_local');
    const { stdout, stderr } = await machine.svc(['project', 'use', 'acme']);
    expect(JSON.parse(stdout)).toMatchObject({ daemon_runs_for: 'prj_local' });
    expect(stderr).toBe('The daemon runs for another project. To switch it to this one: svc up\n');
    expect((await machine.svc(['project', 'use', 'default'])).stderr).toBe('');
  });

  it.each([
    ['acne', 'No profile "acne". Did you mean "acme"?'],
    ['constructor', 'No profile "constructor".'],
  ])('of %s says which there are', async (name, text) => {
    machine.store({ profiles: { default: LOCAL, acme: signedIn() }, current: 'default' });
    const { code, stderr } = await machine.svc(['project', 'use', name]);
    expect([code, stderr]).toEqual([2, `USAGE: ${text}\nStored profiles: default, acme\n`]);
    expect(machine.credentials.current).toBe('default');
  });
});

describe('svc project create', () => {
  it('makes one at the gateway of the current profile', async () => {
    machine.store({ profiles: { acme: signedIn() }, current: 'acme' });
    const argv = ['project', 'create', 'Web shop', '--email', 'ana@example.com'];
    const { code, stdout } = await machine.svc(argv);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ profile: 'web-shop', gateway: gateway.url });
    expect(Object.keys(machine.credentials.profiles)).toEqual(['acme', 'web-shop']);
  });

  it('makes one at the gateway of another profile', async () => {
    machine.store({ profiles: { default: LOCAL, acme: signedIn() }, current: 'default' });
    const argv = ['--profile', 'acme', 'project', 'create', 'Shop', '--email', 'ana@example.com'];
    expect((await machine.svc(argv)).code).toBe(0);
    expect(machine.credentials.current).toBe('shop');
  });

  it('explains that the daemon of a machine has one project', async () => {
    machine.store({ profiles: { default: LOCAL }, current: 'default' });
    const { code, stderr } = await machine.svc(['project', 'create', 'Shop']);
    expect(code).toBe(2);
    expect(stderr).toContain("This machine's daemon has only one project");
    expect(stderr).toContain('svc project create NAME --gateway URL');
  });

  it('names itself where a flag is missing', async () => {
    machine.store({ profiles: { acme: signedIn() }, current: 'acme' });
    const { code, stderr } = await machine.svc(['project', 'create', 'Shop']);
    expect([code, stderr]).toEqual([
      2,
      'USAGE: --email is missing.\nWrite it as: svc project create NAME --gateway URL --email EMAIL\n',
    ]);
  });
});

describe('svc logout', () => {
  it('revokes the key, removes the profile and goes back to the one of this machine', async () => {
    const [acme, books] = [signedIn(), signedIn('books')];
    machine.store({ profiles: { books, acme, default: LOCAL }, current: 'acme' });
    const { code, stdout, stderr } = await machine.svc(['logout']);
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toEqual({ profile: 'acme', key: 'revoked', current: 'default' });
    expect([...gateway.keys]).toEqual([books.api_key]);
    expect(gateway.seen.map(({ route }) => route)).toEqual([
      'GET /v1/whoami',
      'DELETE /v1/keys/key_1?keep=true',
    ]);
    expect(machine.credentials).toEqual({
      profiles: { books, default: LOCAL },
      current: 'default',
    });
  });

  it('leaves the current profile where another one is named', async () => {
    const [acme, books] = [signedIn(), signedIn('books')];
    machine.store({ profiles: { acme, books }, current: 'acme' });
    const { stdout } = await machine.svc(['logout', 'books']);
    expect(JSON.parse(stdout)).toMatchObject({ profile: 'books', current: 'acme' });
  });

  it('goes on to the first of the others where there is none of this machine', async () => {
    const [acme, books] = [signedIn(), signedIn('books')];
    machine.store({ profiles: { acme, books }, current: 'acme' });
    const { stdout } = await machine.svc(['logout', '--profile', 'acme']);
    expect(JSON.parse(stdout)).toMatchObject({ profile: 'acme', current: 'books' });
    const last = await machine.svc(['logout']);
    expect(JSON.parse(last.stdout)).toMatchObject({ profile: 'books', current: null });
    expect(machine.credentials).toEqual({ profiles: {}, current: 'default' });
  });

  it('removes the profile where nobody answers, and says that the key still works', async () => {
    const acme = signedIn();
    machine.store({ profiles: { acme }, current: 'acme' });
    gateway.close();
    const { code, stdout, stderr } = await machine.svc(['logout']);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { key: 'unreachable' }]);
    expect(stderr).toContain(`The key …${acme.api_key.slice(-4)} of acme still works.`);
    expect(stderr).not.toContain(acme.api_key);
    expect(machine.credentials.profiles).toEqual({});
  });

  it('is content with a key that was revoked before', async () => {
    const acme = signedIn();
    gateway.keys.clear();
    machine.store({ profiles: { acme }, current: 'acme' });
    const { code, stdout } = await machine.svc(['logout']);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { key: 'revoked_before' }]);
  });

  it('keeps the last admin key, and the profile with it', async () => {
    const acme = signedIn();
    machine.store({ profiles: { acme }, current: 'acme' });
    gateway.meddle = ({ route }, response) => {
      if (!route.startsWith('DELETE')) return false;
      json(response, { error: { code: 'LAST_ADMIN_KEY', message: 'No.', hint: null } }, 409);
      return true;
    };
    const { code, stdout, stderr } = await machine.svc(['logout']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain("LAST_ADMIN_KEY: This is the project's last admin key");
    expect(stderr).toContain('svc logout acme --keep-key');
    expect(machine.credentials.profiles).toEqual({ acme });

    const kept = await machine.svc(['logout', 'acme', '--keep-key']);
    expect([kept.code, JSON.parse(kept.stdout)]).toMatchObject([0, { key: 'kept' }]);
    expect(gateway.keys.has(acme.api_key)).toBe(true);
    expect(machine.credentials.profiles).toEqual({});
  });

  it('tells what to do with a daemon that runs for it', async () => {
    const acme = signedIn();
    machine.store({ profiles: { default: LOCAL, acme }, current: 'acme' });
    machine.runsFor(acme.project);
    expect((await machine.svc(['logout'])).stderr).toContain(
      'The daemon still runs for it. To stop it: svc down. To restart it for default, which removes the replica: svc up',
    );
  });

  it('removes the copy of the project where no daemon and no other profile has it', async () => {
    const acme = signedIn();
    const folder = join(machine.home, 'data', 'replicas', acme.project);
    const copy = ['replica.db', 'replica.db-wal', 'replica.db-info', 'replica.json'];
    mkdirSync(folder, { recursive: true });
    for (const name of [...copy, 'witness.json']) writeFileSync(join(folder, name), 'x');
    machine.store({ profiles: { acme, again: acme, default: LOCAL }, current: 'acme' });
    await machine.svc(['logout', 'again', '--keep-key']);
    expect(readdirSync(folder)).toHaveLength(5);
    machine.runsFor(acme.project);
    await machine.svc(['logout', 'acme', '--keep-key']);
    expect(readdirSync(folder)).toHaveLength(5);
    machine.store({ profiles: { acme, default: LOCAL }, current: 'acme' });
    machine.runsFor('prj_local');
    await machine.svc(['logout', 'acme']);
    // What was seen of the ledger stays: another history is to be found out.
    expect(readdirSync(folder)).toEqual(['witness.json']);
  });

  it('has nothing to do for the project of this machine', async () => {
    machine.store({ profiles: { default: LOCAL }, current: 'default' });
    const { code, stderr } = await machine.svc(['logout']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('nothing to sign out of')]);
    expect(machine.credentials.profiles).toEqual({ default: LOCAL });
  });

  it('says that nobody is signed in', async () => {
    const { code, stderr } = await machine.svc(['logout']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('No profiles yet.')]);
  });
});

describe('a command with the profile of a gateway', () => {
  it('goes to the gateway while no daemon has its project', async () => {
    const acme = signedIn();
    machine.store({ profiles: { default: LOCAL, acme }, current: 'acme' });
    expect((await call()).code).toBe(0);
    machine.runsFor('prj_local');
    expect((await call()).code).toBe(0);
    expect(gateway.seen.map(({ headers }) => headers.authorization)).toEqual([
      `Bearer ${acme.api_key}`,
      `Bearer ${acme.api_key}`,
    ]);
  });

  it('goes to the daemon that has its project', async () => {
    const acme = signedIn();
    machine.store({ profiles: { acme }, current: 'acme' });
    machine.runsFor(acme.project);
    const { code, stderr } = await call();
    expect([code, stderr]).toEqual([7, expect.stringContaining("The daemon isn't running.")]);
    expect(gateway.seen).toEqual([]);
  });

  it('goes to the gateway when the daemon of its project was killed', async () => {
    const acme = signedIn();
    machine.store({ profiles: { acme }, current: 'acme' });
    machine.runsFor(acme.project, 2 ** 22 + 1);
    expect((await call()).code).toBe(0);
  });

  it('goes there for one command by --profile', async () => {
    machine.store({ profiles: { default: LOCAL, acme: signedIn() }, current: 'default' });
    machine.runsFor('prj_local');
    expect((await call('--profile', 'acme')).code).toBe(0);
    expect(gateway.seen).toHaveLength(1);
  });

  it('says where the address is from when nobody answers there', async () => {
    machine.store({ profiles: { acme: signedIn() }, current: 'acme' });
    gateway.close();
    const { code, stderr } = await call();
    expect([code, stderr]).toEqual([7, expect.stringContaining('See: svc project list')]);
  });
});

describe('a command with the profile of this machine', () => {
  it('is told that the daemon runs for another project', async () => {
    machine.store({ profiles: { default: LOCAL }, current: 'default' });
    machine.runsFor('prj_other');
    const { code, stderr } = await machine.svc(['whoami']);
    expect([code, stderr]).toEqual([7, expect.stringContaining('OTHER_PROJECT: The daemon runs')]);
    expect((await machine.svc(['auth', 'token'])).stdout).toBe('svc_live_local\n');
  });
});
