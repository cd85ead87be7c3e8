import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isAlive } from '../../shared/host/processes.ts';
import { newestSchema } from '../../shared/store/engine/migrate.ts';
import { withRawDatabase } from '../helpers/database.ts';
import { temporaryFolder } from '../helpers/gateway.ts';

/** The bundle as `npm run build` makes it. */
const SVC = resolve('dist/svc.cjs');

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

interface Up {
  readonly base_url: string;
  readonly socket: string;
  readonly project: string;
  readonly pid: number;
}

let folder: ReturnType<typeof temporaryFolder>;

beforeAll(() => {
  if (!existsSync(SVC)) throw new Error('Make the bundle first: npm run build');
});
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  await svc('down');
  folder.remove();
});

function svc(...args: string[]): Promise<Ran> {
  return svcWith({}, ...args);
}

function svcWith(settings: Record<string, string>, ...args: string[]): Promise<Ran> {
  const env = { ...process.env, ...settings, SVC_HOME: folder.path };
  return new Promise((done) => {
    execFile(process.execPath, [SVC, ...args], { env }, (error, out, err) => {
      done({ code: typeof error?.code === 'number' ? error.code : 0, out, err });
    });
  });
}

async function up(...args: string[]): Promise<Up> {
  const { code, out, err } = await svc('up', '--port', '0', '--json', ...args);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out.endsWith('\n')).toBe(true);
  expect(out.trim().split('\n')).toHaveLength(1);
  const parsed: Up = JSON.parse(out);
  return parsed;
}

describe('svc up and svc down', () => {
  it('start it once, say where it runs, and end it without a trace', async () => {
    expect((await svc('status')).code).toBe(3);
    const first = await up();
    expect(Object.keys(first)).toEqual([
      'base_url',
      'mcp_url',
      'hooks_url',
      'inbox_url',
      'socket',
      'project',
      'pid',
      'mode',
    ]);
    expect(await up()).toEqual(first);
    const status = await svc('status', '--json');
    expect(status.code).toBe(0);
    expect(JSON.parse(status.out)).toMatchObject({ running: true, state: 'ready', ...first });
    expect((await svc('doctor')).code).toBe(0);

    const down = await svc('down', '--json');
    expect({ ...down, out: JSON.parse(down.out) as unknown }).toEqual({
      code: 0,
      out: { stopped: true, pid: first.pid },
      err: '',
    });
    expect(isAlive(first.pid)).toBe(false);
    expect(existsSync(first.socket)).toBe(false);
    expect(existsSync(join(folder.path, 'daemon.json'))).toBe(false);
    expect((await svc('down')).code).toBe(0);
    const doctor = await svc('doctor', '--json');
    expect(doctor.out).toContain('"detail":"databases are intact"');
    expect((await svc('logs', '-n', '1')).out).toContain('"msg":"ended"');
  });

  it('run one daemon when several start it at once', async () => {
    const ups = await Promise.all([up(), up(), up(), up()]);
    expect(new Set(ups.map(({ pid }) => pid)).size).toBe(1);
  });

  it('start cleanly after kill -9, with the same project', async () => {
    const first = await up();
    process.kill(first.pid, 'SIGKILL');
    await expect.poll(() => isAlive(first.pid)).toBe(false);
    expect(existsSync(first.socket)).toBe(true);
    expect((await svc('status')).code).toBe(3);
    expect(JSON.parse((await svc('down')).out)).toEqual({ stopped: false, pid: null });
    const second = await up();
    expect(second.project).toBe(first.project);
    expect(second.pid).not.toBe(first.pid);
    expect((await svc('whoami')).code).toBe(0);
  });

  it('tell a hanging daemon from one that is down, and end it', async () => {
    const { pid } = await up();
    process.kill(pid, 'SIGSTOP');
    const status = await svc('status');
    expect(status.code).toBe(7);
    expect(JSON.parse(status.out)).toMatchObject({ running: true, state: 'silent', pid });
    expect(JSON.parse((await svc('down')).out)).toEqual({ stopped: true, pid });
    expect(isAlive(pid)).toBe(false);
  });

  it('say who has the port, and what to do', async () => {
    const { holder, port } = await holdPort();
    const { code, err } = await svc('up', '--port', String(port), '--json');
    expect(code).toBe(7);
    expect(err).toContain(`Port ${port} is taken by`);
    expect(err).toContain(`(pid ${process.pid})`);
    expect(err).toContain('svc up --port 0');
    holder.close();
  });

  it('keep the port that was chosen, after an end, a crash and in the foreground', async () => {
    const first = await up();
    const again = async (...args: string[]): Promise<Up> =>
      JSON.parse((await svc('up', '--json', ...args)).out);
    await svc('down');
    const second = await again();
    expect(second.base_url).toBe(first.base_url);
    process.kill(second.pid, 'SIGKILL');
    await expect.poll(() => isAlive(second.pid)).toBe(false);
    expect((await again()).base_url).toBe(first.base_url);

    await svc('down');
    const { holder, port } = await holdPort();
    holder.close();
    await once(holder, 'close');
    expect((await again('--port', String(port))).base_url).toBe(`http://127.0.0.1:${port}`);
    await svc('down');
    const foreground = spawn(process.execPath, [SVC, 'up', '--foreground', '--json'], {
      env: { ...process.env, SVC_HOME: folder.path },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [line]: unknown[] = await once(foreground.stdout, 'data');
    expect(JSON.parse(String(line))).toMatchObject({ base_url: `http://127.0.0.1:${port}` });
    foreground.kill('SIGTERM');
    await once(foreground, 'exit');
  });

  it('leave no daemon when the one in the foreground is ended by kill -9', async () => {
    const foreground = spawn(
      process.execPath,
      [SVC, 'up', '--foreground', '--port', '0', '--json'],
      { env: { ...process.env, SVC_HOME: folder.path }, stdio: ['ignore', 'pipe', 'ignore'] },
    );
    const [line]: unknown[] = await once(foreground.stdout, 'data');
    const { pid } = JSON.parse(String(line)) as { pid: number };
    foreground.kill('SIGKILL');
    await expect.poll(() => isAlive(pid)).toBe(false);
    expect((await svc('status')).code).toBe(3);
  });

  it('start nothing on another port than the chosen one, and say why', async () => {
    const first = await up();
    const port = Number(new URL(first.base_url).port);
    await svc('down');
    const { holder } = await holdPort(port);
    const doctor = await svc('doctor');
    expect(doctor.out).toContain(`${port} is used by`);
    const { code, out, err } = await svc('up', '--json');
    expect([code, out]).toEqual([7, '']);
    expect(err).toContain(`Port ${port} is taken by`);
    expect(err).toContain(`(pid ${process.pid})`);
    expect(err).toContain('svc remembered this port because URLs you gave out contain it');
    expect((await svc('status')).code).toBe(3);
    // What failed is not remembered, and a port that is chosen anew is.
    const other = await up();
    expect(other.base_url).not.toBe(first.base_url);
    await svc('down');
    holder.close();
    expect(JSON.parse((await svc('up', '--json')).out)).toMatchObject({ base_url: other.base_url });
  });

  it('say that the remembered port cannot be read, and take a new one by --port', async () => {
    await up();
    await svc('down');
    const file = join(folder.path, 'data', 'settings.json');
    writeFileSync(file, '{"port":');
    const { code, err } = await svc('up', '--json');
    expect(code).toBe(7);
    expect(err).toContain(`${file} has no port. Choose one: svc up --port N`);
    expect((await svc('doctor')).out).toContain(`${file} has no port.`);
    const { base_url } = await up();
    expect(readFileSync(file, 'utf8')).toContain(new URL(base_url).port);
  });

  it('name the owner, at a start and while it runs', async () => {
    await up('--owner', 'ana@example.com');
    const people = async () =>
      (JSON.parse((await svc('status')).out) as { people: Record<string, unknown> }).people;
    expect(await people()).toMatchObject({ owner: 'a***@example.com', mail: 'outbox' });
    await svc('down');
    await up();
    expect(await people()).toMatchObject({ owner: 'a***@example.com' });
    await up('--owner', 'bob@example.org');
    expect(await people()).toMatchObject({ owner: 'b***@example.org' });
    const wrong = await svc('up', '--owner', 'Ana <ana@example.com>');
    expect(wrong.code).toBe(2);
    expect(wrong.err).toContain("--owner isn't an email address");
  });

  it('say everything that is wrong with the settings, and start nothing', async () => {
    const settings = { SVC_SMTP_URL: 'smtp://x', SVC_CALLBACK_ALLOW: 'all' };
    const { code, out, err } = await svcWith(settings, 'up', '--port', '0');
    expect([code, out]).toEqual([7, '']);
    expect(err).toBe(
      'START_FAILED: Some settings are invalid.\n' +
        '  SVC_MAIL_FROM is not set: it says who writes.\n' +
        '  SVC_CALLBACK_ALLOW: `all` is not a range of addresses such as `127.0.0.0/8` or `::1/128`.\n',
    );
    expect((await svc('status')).code).toBe(3);
    await up();
    const { err: note } = await svcWith({ SVC_SMTP_URL: 'smtp://x' }, 'up', '--json');
    expect(note).toBe(
      "It's running with the settings it started with. To apply new ones: svc down && svc up\n",
    );
  });

  it('say so, without a stack, when a newer release wrote the data', async () => {
    const { project } = await up();
    await svc('down');
    const file = join(folder.path, 'data', 'projects', project, 'project.db');
    const schema = (version: number): void =>
      withRawDatabase(file, (raw) => raw.exec(`PRAGMA user_version=${version}`));
    schema(999);
    const { code, err } = await svc('up', '--port', '0');
    expect(code).toBe(7);
    expect(err).toMatch(
      /^START_FAILED: This project database has schema 999, newer than \d+: update svc before opening it\.\nMore: svc logs, svc doctor\n$/,
    );
    schema(newestSchema('project'));
    await up();
  });

  it('replace a daemon of another release and say so', async () => {
    const old = await pretendOldDaemon();
    const { code, err } = await svc('up', '--port', '0', '--json');
    expect(code).toBe(0);
    expect(err).toContain('Replaced daemon 0.0.1');
    expect(old.exitCode).toBe(0);
  });
});

/** Another program on a port of this machine; on a free one unless told. */
async function holdPort(wanted = 0): Promise<{ holder: Server; port: number }> {
  const holder = createServer().listen(wanted, '127.0.0.1');
  await once(holder, 'listening');
  const address = holder.address();
  return { holder, port: typeof address === 'object' ? (address?.port ?? 0) : 0 };
}

/** Answers on the socket as a daemon of an earlier release, and ends when told to. */
async function pretendOldDaemon(): Promise<ChildProcess> {
  const code = `
    require('node:http').createServer((request, response) => {
      response.setHeader('connection', 'close');
      response.end(JSON.stringify({
        pid: process.pid, instance: 'old', version: '0.0.1', state: 'ready',
        base_url: 'http://127.0.0.1:1', uptime_seconds: 1,
      }));
      if (request.method === 'POST') response.on('close', () => process.exit(0));
    }).listen(${JSON.stringify(join(folder.path, 'svc.sock'))}, () => console.log('ready'));`;
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}

describe('a daemon under load', () => {
  it('ends within five seconds on SIGTERM and answers what it took', async () => {
    const { base_url, pid } = await up();
    const key = (await svc('auth', 'token')).out.trim();
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const made = await fetch(`${base_url}/v1/sources`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ type: 'webhook', name: 'load' }),
    });
    const { url }: { url: string } = JSON.parse(await made.text());
    const statuses = new Set<number>();
    const post = async (): Promise<void> => {
      for (;;) {
        const body = JSON.stringify({ at: Math.random() });
        const answer = await fetch(url, { method: 'POST', body }).catch(() => null);
        if (!answer) return;
        statuses.add(answer.status);
        await answer.text().catch(() => '');
      }
    };
    const waits = Array.from({ length: 5 }, async () => {
      const answer = await fetch(`${base_url}/v1/inbox/wait?timeout_seconds=100&type=never`, {
        headers,
      });
      return answer.json();
    });
    const load = Array.from({ length: 16 }, post);
    await sleep(1000);
    process.kill(pid, 'SIGTERM');
    // Long before the waits are over.
    await expect.poll(() => isAlive(pid), { interval: 20 }).toBe(false);
    expect(await Promise.all(waits)).toEqual(Array.from({ length: 5 }, () => ({ event: null })));
    await Promise.all(load);
    expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
  });
});

describe.runIf(process.platform === 'linux')('an idle daemon', () => {
  it('sleeps, and is small', async () => {
    const { pid } = await up();
    // The engine tidies up a few times after the start, each release at times of its own: anything periodic goes on.
    const quiet = async (): Promise<number> => {
      const before = wakeUps(pid);
      await sleep(15_000);
      return wakeUps(pid) - before;
    };
    await expect.poll(quiet, { timeout: 120_000 }).toBeLessThan(5);
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const rssKb = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]);
    // Each thread has an engine of its own, which takes more room in later releases of Node.
    const limitMb = Number(process.versions.node.split('.')[0]) > 20 ? 140 : 110;
    expect(rssKb).toBeLessThan(limitMb * 1024);
  });
});

/** How often the threads of a process went to sleep and were woken again. */
function wakeUps(pid: number): number {
  let sum = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const status = readFileSync(`/proc/${pid}/task/${task}/status`, 'utf8');
    sum += Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1]);
  }
  return sum;
}
