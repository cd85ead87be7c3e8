import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newApiKey, newProjectId } from '../../../shared/lib/ids.ts';
import { FakeGateway } from './fake-gateway.ts';
import { Machine } from './machine.ts';

const EMAIL = 'ana@example.com';

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

function login(...flags: string[]) {
  return machine.svc(['login', '--gateway', gateway.url, '--email', EMAIL, ...flags]);
}

/** Ends a run as Ctrl-C would, the first time somebody asks whether the link is confirmed. */
function interruptAtPoll(): AbortSignal {
  const interruption = new AbortController();
  gateway.confirmsAtOnce = false;
  gateway.onPoll = () => interruption.abort();
  return interruption.signal;
}

describe('svc login', () => {
  it('shows the code, makes a project where there is none, and stores its key for this user alone', async () => {
    const { code, stdout, stderr } = await login('--create', 'Web shop');
    expect(code).toBe(0);
    const [project] = gateway.projects;
    expect(JSON.parse(stdout)).toEqual({
      profile: 'web-shop',
      project: { id: project?.id, slug: 'web-shop', name: 'Web shop' },
      gateway: gateway.url,
    });
    expect(stderr).toBe(
      'Sent mail to a***@example.com. Open the link in it and type this code there:\n' +
        '\n    ENJOY-RIVER-42\n\n',
    );
    const [apiKey = ''] = gateway.keys;
    expect(machine.credentials).toEqual({
      profiles: {
        'web-shop': {
          gateway: gateway.url,
          api_key: apiKey,
          project: project?.id,
          slug: 'web-shop',
          name: 'Web shop',
          email: 'a***@example.com',
        },
      },
      current: 'web-shop',
    });
    expect(machine.mode).toBe(0o600);
    expect(machine.pending).toEqual([]);
    expect(stdout + stderr).not.toContain(apiKey);
    expect(stdout + stderr).not.toContain('lgn_');
  });

  it('says where the link is, at a gateway that sends no mail', async () => {
    gateway.keepsMail = true;
    const { stderr } = await login('--create', 'Shop');
    expect(stderr).toBe(
      'This gateway has no mail server: the mail to a***@example.com stays on its host. To read it there: svc gateway outbox\n' +
        'Open the link in it and type this code there:\n' +
        '\n    ENJOY-RIVER-42\n\n',
    );
  });

  it('shows the code with --quiet, as it is what tells this mail from another', async () => {
    const { code, stderr } = await login('--create', 'Shop', '--quiet');
    expect([code, stderr]).toEqual([
      0,
      'Sent mail to a***@example.com. Open the link in it and type this code there:\n' +
        '\n    ENJOY-RIVER-42\n\n',
    ]);
  });

  it('gives a script the code as a line of JSON on standard error', async () => {
    const { code, stdout, stderr } = await login('--create', 'Shop', '--json', '--quiet');
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { profile: 'shop' }]);
    expect(stderr.split('\n')).toHaveLength(2);
    expect(JSON.parse(stderr)).toEqual({
      user_code: 'ENJOY-RIVER-42',
      email_masked: 'a***@example.com',
      expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      mail: 'sent',
    });
  });

  it('says to the gateway who asks, and sends no stored key there', async () => {
    const apiKey = newApiKey(newProjectId());
    const other = { gateway: gateway.url, api_key: apiKey, project: 'prj_other' };
    machine.store({ profiles: { other }, current: 'other' });
    await login('--create', 'Shop');
    const [, start] = gateway.seen;
    expect(start?.body).toEqual({
      email: EMAIL,
      client: { name: 'svc', version: expect.any(String), host: expect.any(String) },
    });
    expect(gateway.seen.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
    const use = gateway.seen.at(-1);
    expect(use?.body).toMatchObject({ name: 'Shop', key_name: expect.stringMatching(/^svc on ./) });
  });

  it('joins the only project', async () => {
    const { id } = gateway.addProject('acme');
    const { code, stdout } = await login();
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { profile: 'acme', project: { id } }]);
    expect(gateway.projects).toHaveLength(1);
  });

  it('names a first project after the folder where nobody has named it', async () => {
    const { stdout } = await login();
    const name = process.cwd().split('/').at(-1);
    expect(JSON.parse(stdout)).toMatchObject({ project: { name } });
  });

  it.each(['slug', 'id'] as const)('joins the project of a %s', async (field) => {
    gateway.addProject('acme');
    const project = gateway.addProject('books');
    const { code, stdout } = await login('--project', project[field]);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { profile: 'books' }]);
  });

  it('lists several projects, and sends no other mail when one is named then', async () => {
    gateway.addProject('acme');
    gateway.addProject('books');
    const { code, stdout, stderr } = await login();
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('USAGE: This account has 2 projects: acme, books.\n');
    expect(stderr).toContain('--project SLUG');
    const again = await login('--project', 'books');
    expect(again.code).toBe(0);
    expect(gateway.count('POST /v1/auth/start')).toBe(1);
    expect(machine.credentials.current).toBe('books');
  });

  it('says which project may have been meant', async () => {
    gateway.addProject('acme');
    gateway.addProject('books');
    const { code, stderr } = await login('--project', 'bokks');
    expect(code).toBe(1);
    expect(stderr).toContain('This account has no project "bokks". Did you mean "books"?');
    expect(stderr).toContain('It has: acme, books.');
    expect(stderr.replaceAll('\n', ' ')).toContain('svc member invite EMAIL --role member');
  });

  it('waits as long as the gateway says, until the link is confirmed', async () => {
    gateway.confirmsAtOnce = false;
    let polls = 0;
    gateway.onPoll = (one) => {
      polls += 1;
      if (polls === 3) one.state = 'confirmed';
    };
    const { code } = await login('--create', 'Shop');
    expect([code, polls]).toEqual([0, 3]);
  });

  it('sits out network trouble while it waits', async () => {
    let cuts = 0;
    gateway.meddle = ({ route }, response) => {
      if (route !== 'POST /v1/auth/poll' || cuts >= 2) return false;
      cuts += 1;
      response.destroy();
      return true;
    };
    const { code, stderr } = await login('--create', 'Shop');
    expect([code, cuts]).toEqual([0, 2]);
    expect(stderr).toContain('Trying again.\nConnected again.\n');
  });

  it('keeps the profile of the same project, and says that the key before still works', async () => {
    gateway.addProject('acme');
    await login();
    const [first] = gateway.keys;
    const { stdout, stderr } = await login();
    expect(JSON.parse(stdout)).toMatchObject({ profile: 'acme' });
    expect(stderr).toContain('The old key still works.');
    const { profiles } = machine.credentials;
    expect(Object.keys(profiles)).toEqual(['acme']);
    expect(profiles['acme']?.api_key).not.toBe(first);
  });

  it('gives a profile another name where that of the project is taken', async () => {
    const local = { gateway: null, api_key: 'svc_live_local', project: 'prj_local' };
    const acme = { gateway: 'https://elsewhere.example', api_key: 'svc_live_1', project: 'prj_1' };
    machine.store({ profiles: { default: local, acme }, current: 'default' });
    gateway.addProject('acme');
    gateway.addProject('default');
    await login('--project', 'acme');
    await login('--project', 'default');
    const { profiles, current } = machine.credentials;
    expect(Object.keys(profiles)).toEqual(['default', 'acme', 'acme-2', 'default-2']);
    expect(profiles).toMatchObject({ default: local, acme });
    expect(current).toBe('default-2');
  });

  it('takes the gateway of the environment, and says that what is set there wins', async () => {
    gateway.addProject('acme');
    const env = { SVC_GATEWAY: gateway.url, SVC_API_KEY: 'svc_live_x' };
    const { code, stderr } = await machine.svc(['login', '--email', EMAIL], { env });
    expect(code).toBe(0);
    expect(stderr).toContain('These variables override every profile: SVC_API_KEY, SVC_GATEWAY.');
  });
});

describe('a sign-in that was interrupted', () => {
  it('is kept for this user alone, and taken up by the same command without another mail', async () => {
    const signal = interruptAtPoll();
    const argv = ['login', '--gateway', gateway.url, '--email', EMAIL, '--create', 'Shop'];
    const { code, stdout, stderr } = await machine.svc(argv, { signal });
    expect([code, stdout]).toEqual([130, '']);
    expect(stderr).toContain(
      'The sign-in stays open for 15 min. Run the same command again to continue.',
    );
    const [file = ''] = machine.pending;
    expect(file).toMatch(/^[0-9a-f]{32}\.json$/);
    expect(statSync(join(machine.home, 'logins', file)).mode & 0o777).toBe(0o600);

    gateway.onPoll = (one) => void (one.state = 'confirmed');
    const again = await login('--create', 'Shop');
    expect(again.code).toBe(0);
    expect(again.stderr).toContain('Continuing the earlier sign-in, open for 15 min more.');
    expect(gateway.count('POST /v1/auth/start')).toBe(1);
    expect(machine.pending).toEqual([]);
  });

  it('shows its code again while nobody has confirmed it', async () => {
    await machine.svc(['login', '--gateway', gateway.url, '--email', EMAIL], {
      signal: interruptAtPoll(),
    });
    let polls = 0;
    gateway.onPoll = (one) => {
      polls += 1;
      if (polls === 2) one.state = 'confirmed';
    };
    const { stderr } = await login();
    expect(stderr).toContain(
      'Open the link mailed to a***@example.com and type this code there:\n' +
        '\n    ENJOY-RIVER-42\n\n',
    );
    expect(stderr).not.toContain('Mail sent');
  });

  it.each([
    ['still works', true],
    ['is over', false],
  ])('of which the mail %s, where no other may be sent', async (_, works) => {
    await machine.svc(['login', '--gateway', gateway.url, '--email', EMAIL], {
      signal: interruptAtPoll(),
    });
    gateway.onPoll = () => undefined;
    for (const one of gateway.logins.values()) if (!works) one.state = 'expired';
    gateway.meddle = ({ route }, response) => {
      if (route !== 'POST /v1/auth/start') return false;
      response.writeHead(429, { 'content-type': 'application/json' });
      const error = { code: 'RATE_LIMITED', message: 'Too many.', hint: 'Wait.' };
      response.end(JSON.stringify({ error }));
      return true;
    };
    const { code, stderr } = await login('--resend');
    expect(code).toBe(1);
    expect(stderr.replaceAll(/\s+/g, ' ')).toBe(
      works
        ? 'RATE_LIMITED: Too many. The earlier mail still works for 15 min. To continue with it, run the command without --resend. '
        : 'RATE_LIMITED: Too many. Wait. ',
    );
  });

  it.each([
    ['another mail is asked for', ['--resend']],
    ['the address is another', ['--email', 'bo@example.com']],
  ])('is left alone where %s', async (_, flags) => {
    const base = ['login', '--gateway', gateway.url];
    const first = [...base, '--email', EMAIL];
    await machine.svc(first, { signal: interruptAtPoll() });
    gateway.confirmsAtOnce = true;
    const argv = flags.includes('--email') ? [...base, ...flags] : [...first, ...flags];
    expect((await machine.svc(argv)).code).toBe(0);
    expect(gateway.count('POST /v1/auth/start')).toBe(2);
  });

  it.each(['expired', 'used'] as const)('is begun anew when it is %s meanwhile', async (state) => {
    await machine.svc(['login', '--gateway', gateway.url, '--email', EMAIL], {
      signal: interruptAtPoll(),
    });
    for (const one of gateway.logins.values()) one.state = state;
    gateway.onPoll = () => undefined;
    gateway.confirmsAtOnce = true;
    const { code, stderr } = await login();
    expect(code).toBe(0);
    expect(stderr).toContain('The earlier sign-in has expired.');
    expect(stderr).toContain('ENJOY-RIVER-43');
  });

  it('gets the same project when only the answer was lost', async () => {
    let lost = 0;
    gateway.meddle = ({ route, headers, body }, response) => {
      if (route !== 'POST /v1/projects' || lost > 0) return false;
      lost += 1;
      // It is made, and nobody hears of it.
      void fetch(`${gateway.url}/v1/projects`, {
        method: 'POST',
        headers: { 'idempotency-key': String(headers['idempotency-key']) },
        body: JSON.stringify(body),
      }).then(() => response.destroy());
      return true;
    };
    expect((await login('--create', 'Shop')).code).toBe(0);
    expect(gateway.projects).toHaveLength(1);
    expect([...gateway.keys]).toEqual([machine.credentials.profiles['shop']?.api_key]);
  });

  it('gets the same project when the gateway was away for longer', async () => {
    gateway.meddle = ({ route, headers, body }, response) => {
      if (route !== 'POST /v1/projects') return false;
      if (headers['x-from'] === 'test') return false;
      void fetch(`${gateway.url}/v1/projects`, {
        method: 'POST',
        headers: { 'idempotency-key': String(headers['idempotency-key']), 'x-from': 'test' },
        body: JSON.stringify(body),
      }).then(() => response.destroy());
      return true;
    };
    const { code, stderr } = await login('--create', 'Shop');
    expect([code, stderr]).toEqual([7, expect.stringContaining('UNREACHABLE')]);
    gateway.meddle = () => false;
    const again = await login('--create', 'Shop');
    expect(again.code).toBe(0);
    expect(gateway.count('POST /v1/auth/start')).toBe(1);
    expect(gateway.projects).toHaveLength(1);
    expect([...gateway.keys]).toEqual([machine.credentials.profiles['shop']?.api_key]);
  });
});

describe('a sign-in that ends', () => {
  it.each([
    ['expired', 5, 'LOGIN_EXPIRED: Nobody confirmed the sign-in in time.\n'],
    ['used', 1, 'LOGIN_CONSUMED: This sign-in was already used'],
  ] as const)('%s says how to start again, and is forgotten', async (state, exit, text) => {
    gateway.confirmsAtOnce = false;
    gateway.onPoll = (one) => void (one.state = state);
    const { code, stdout, stderr } = await login();
    expect([code, stdout]).toEqual([exit, '']);
    expect(stderr).toContain(text);
    expect(stderr).toContain('Run the same command again');
    expect(machine.pending).toEqual([]);
  });

  it('ends with what the gateway says when no project can be made, and can go on with another', async () => {
    gateway.addProject('acme');
    gateway.meddle = ({ route }, response) => {
      if (route !== 'POST /v1/projects') return false;
      response.writeHead(409, { 'content-type': 'application/json' });
      const error = { code: 'PROJECT_LIMIT_REACHED', message: 'Too many.', hint: 'Reuse one.' };
      response.end(JSON.stringify({ error }));
      return true;
    };
    const { code, stderr } = await login('--create', 'Shop');
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('PROJECT_LIMIT_REACHED: Too many.'),
    ]);
    expect((await login('--project', 'acme')).code).toBe(0);
    expect(gateway.count('POST /v1/auth/start')).toBe(1);
  });

  it('refuses a key of another project', async () => {
    gateway.meddle = ({ route }, response) => {
      if (route !== 'POST /v1/projects') return false;
      const project = { id: newProjectId(), slug: 'shop', name: 'Shop' };
      const answer = { project, api_key: newApiKey(newProjectId()) };
      response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
      return true;
    };
    const { code, stderr } = await login('--create', 'Shop');
    expect([code, stderr]).toEqual([1, expect.stringContaining('ANSWER_INVALID')]);
    expect(stderr).not.toContain('svc_live_');
  });
});
