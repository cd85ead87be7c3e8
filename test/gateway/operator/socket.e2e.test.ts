import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { newProject, type TeamProject } from '../../helpers/team.ts';
import { Hosted } from '../server/hosted.ts';
import { askOperator } from './ask-operator.ts';

let folder: ReturnType<typeof temporaryFolder>;
let data: string;
let socketPath: string;
let project: TeamProject;
let hosted: Awaited<ReturnType<typeof Hosted.start>>;

async function start(dataFolder = data): Promise<void> {
  hosted = await Hosted.start({ SVC_DATA: dataFolder, SVC_LISTEN: '127.0.0.1:0' });
}

beforeEach(async () => {
  folder = temporaryFolder();
  data = join(folder.path, 'data');
  socketPath = join(data, 'operator.sock');
  project = await newProject(data, 'shop');
  await start();
});
afterEach(async () => {
  await hosted.end('SIGKILL');
  folder.remove();
});

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the command of the executable, which is told where the data are by its environment alone. */
function svc(args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  const { PATH = '', HOME = '' } = process.env;
  const home = join(folder.path, 'home');
  return new Promise((done) => {
    execFile(
      process.execPath,
      [resolve('dist/svc.cjs'), ...args],
      { env: { PATH, HOME, SVC_HOME: home, SVC_DATA: data, ...env } },
      (error, out, err) => done({ code: error ? Number(error.code) : 0, out, err }),
    );
  });
}

const ORDER = ['gateway', 'project'] as const;

describe('the socket of the operator', () => {
  it('is for the user of the gateway alone, and gone with it', async () => {
    expect(statSync(socketPath).isSocket()).toBe(true);
    expect(statSync(socketPath).mode & 0o777).toBe(0o600);
    expect(await hosted.end()).toBe(0);
    expect(existsSync(socketPath)).toBe(false);
  });

  it('is made anew where a process left one behind that was killed', async () => {
    await hosted.end('SIGKILL');
    expect(existsSync(socketPath)).toBe(true);
    await start();
    expect((await askOperator(socketPath, 'GET', '/projects')).status).toBe(200);
  });

  it('stays that of the first gateway when a second one is refused', async () => {
    const second = await Hosted.refused({ SVC_DATA: data, SVC_LISTEN: '127.0.0.1:0' });
    expect(second.code).toBe(1);
    expect((await askOperator(socketPath, 'GET', '/projects')).status).toBe(200);
  });

  it('is not served where everybody calls', async () => {
    const answer = await fetch(`${hosted.status.base_url}/projects`);
    expect(answer.status).toBe(404);
  });

  it('is done without where its path is too long, and the log says so', async () => {
    await hosted.end();
    const deep = join(folder.path, 'd'.repeat(100));
    mkdirSync(deep);
    await start(deep);
    await expect.poll(() => hosted.out).toContain('"msg":"SVC_DATA: the path of ');
    const warning = hosted.log.find(({ msg }) => String(msg).startsWith('SVC_DATA: '));
    expect(warning).toMatchObject({ level: 40 });
    expect(warning?.['msg']).toMatch(/ is too long for a socket \(\d+ bytes, 103 at most\), /);
    expect(existsSync(join(deep, 'operator.sock'))).toBe(false);
    const ran = await svc([...ORDER, 'list'], { SVC_DATA: deep });
    expect(ran.code).toBe(7);
    expect(ran.err).toMatch(/^UNREACHABLE: The path \S+ is too long for a socket \(/);
    expect(ran.err).toContain('shorter SVC_DATA');

    await hosted.end();
    const short = join(folder.path, 'short');
    symlinkSync(deep, short);
    await start(short);
    expect(await svc([...ORDER, 'list', '--data', short])).toMatchObject({ code: 3, err: '' });
  });

  it('is done without where something else has its name', async () => {
    await hosted.end();
    writeFileSync(socketPath, 'mine');
    await start();
    const told = `${socketPath} can't be created (EADDRINUSE), so`;
    await expect.poll(() => hosted.out).toContain(told);
    expect(statSync(socketPath).isFile()).toBe(true);
    expect((await fetch(`${hosted.status.base_url}/readyz`)).status).toBe(200);
  });
});

describe('svc gateway project', () => {
  it('blocks, lists and unblocks, and the log says what was ordered', async () => {
    const block = await svc([...ORDER, 'block', 'shop', '--reason', 'Unpaid']);
    expect(block).toMatchObject({ code: 0, err: '' });
    const blocked = { reason: 'Unpaid', since: expect.any(String) as string };
    expect(JSON.parse(block.out)).toEqual({
      project: { id: project.id, slug: 'shop', name: 'shop' },
      blocked,
      changed: true,
    });
    const list = await svc([...ORDER, 'list']);
    expect(list).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(list.out)).toMatchObject({
      items: [{ slug: 'shop', emails: { this_month: 0, blocked } }],
      next_cursor: null,
    });
    for (const changed of [true, false]) {
      const unblock = await svc([...ORDER, 'unblock', project.id]);
      expect(JSON.parse(unblock.out)).toMatchObject({ blocked: null, changed });
    }
    await expect.poll(() => orders().length).toBe(3);
    const common = { level: 30, project: project.id, slug: 'shop' };
    expect(orders()).toMatchObject([
      { ...common, msg: 'sending is blocked', reason: 'Unpaid', changed: true },
      { ...common, msg: 'sending is not blocked', changed: true },
      { ...common, msg: 'sending is not blocked', changed: false },
    ]);
  });

  it('deletes only what is named twice, and nothing stays', async () => {
    const bare = await svc([...ORDER, 'delete', 'shop']);
    expect([bare.code, bare.err]).toEqual([2, expect.stringContaining('--yes shop')]);
    const other = await svc([...ORDER, 'delete', 'shop', '--yes', 'shp']);
    expect([other.code, other.err]).toEqual([2, expect.stringContaining('Nothing was deleted')]);
    expect(existsSync(join(data, 'projects', project.id))).toBe(true);
    const deleted = await svc([...ORDER, 'delete', 'shop', '--yes', 'shop']);
    expect(deleted).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(deleted.out)).toEqual({
      project: { id: project.id, slug: 'shop', name: 'shop' },
      changed: true,
    });
    expect(existsSync(join(data, 'projects', project.id))).toBe(false);
    expect((await svc([...ORDER, 'delete', 'shop', '--yes', 'shop'])).err).toContain('NOT_FOUND');
    await expect.poll(() => orders()).toMatchObject([{ msg: 'a project was deleted' }]);
  });

  it('says that no gateway runs there, and changes nothing', async () => {
    await hosted.end();
    const ran = await svc([...ORDER, 'block', 'shop', '--reason', 'Unpaid']);
    expect(ran).toMatchObject({ code: 7, out: '' });
    expect(ran.err).toMatch(`UNREACHABLE: No gateway runs with the data in ${data}.\n`);
    expect(ran.err).toContain('Start it (svc gateway)');
    await start();
    expect((await askOperator(socketPath, 'GET', '/projects')).body['items']).toMatchObject([
      { emails: { blocked: null } },
    ]);
  });

  it('says the same where one was killed', async () => {
    await hosted.end('SIGKILL');
    expect((await svc([...ORDER, 'list'])).err).toContain('No gateway runs with the data in');
  });
});

const orders = () => hosted.log.filter(({ by }) => by === 'operator socket');
