import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TestGateway, temporaryFolder } from '../../helpers/gateway.ts';
import { startGatewayProcess, type GatewayProcess } from '../server/gateway-process.ts';
import { takeLock } from '../../../shared/store/engine/lock.ts';
import { operator, OPERATOR } from './operator.ts';

interface Member {
  readonly id: string;
  readonly apiKey: string;
}

/** Too large for a row: a blob. */
const CONTENT = randomBytes(400_000);

const root = temporaryFolder();
const data = join(root.path, 'data');
const backup = join(root.path, 'backup');
let members: Member[];
/** What was answered before the backup began: the number of each write, by project. */
const acknowledged = new Map<string, number>();

async function call(
  url: string,
  { apiKey }: Member,
  [method, path, body]: readonly [string, string, unknown?],
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function seed(): Promise<Member[]> {
  const gateway = await TestGateway.start({ folder: data });
  const made = await Promise.all(
    ['one', 'two', 'three'].map(async (name) => {
      const { project, apiKey } = await gateway.gateway.createProject({ name, slug: name });
      const member = { id: project.id, apiKey };
      const file = await fetch(`${gateway.url}/v1/files/big`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'image/png' },
        body: CONTENT,
      });
      expect(file.status).toBe(200);
      return member;
    }),
  );
  await gateway.stop({ keepFolder: true });
  return made;
}

/** Writes to every project until it is told to stop, and notes what was acknowledged. */
function load(gateway: GatewayProcess): { end(): Promise<void> } {
  const over = new AbortController();
  const lanes = members.map(async (member) => {
    for (let n = 1; !over.signal.aborted; n += 1) {
      const put = ['PUT', `/v1/kv/n-${String(n).padStart(6, '0')}`, n] as const;
      const answer = await call(gateway.url, member, put).catch(() => null);
      // The gateway was killed.
      if (answer === null) return;
      if (answer.status === 200) acknowledged.set(member.id, n);
    }
  });
  return {
    async end() {
      over.abort();
      await Promise.all(lanes);
    },
  };
}

beforeAll(async () => {
  mkdirSync(data);
  members = await seed();
});
afterAll(() => root.remove());

describe('a backup beside a gateway under load', () => {
  let gateway: GatewayProcess | null = null;
  afterEach(() => gateway?.kill());

  it('has everything that was answered before it began, and comes to life elsewhere', async () => {
    gateway = await startGatewayProcess(data, 2);
    const work = load(gateway);
    await expect.poll(() => acknowledged.size).toBe(members.length);
    const before = new Map(acknowledged);
    const made = await operator(['backup', backup, '--data', data, '--json']);
    expect([made.code, made.err]).toEqual([0, expect.stringContaining('NOT IN THIS BACKUP')]);
    expect(JSON.parse(made.out)).toMatchObject({
      folder: backup,
      data,
      projects: members.length + 1,
      blobs: members.length,
      bucket: null,
      key_included: false,
    });
    await gateway.kill();
    await work.end();
    expect(readdirSync(backup).toSorted()).toEqual([
      'control.db',
      'manifest.json',
      'manifest.sha256',
      'projects',
    ]);

    const elsewhere = join(root.path, 'elsewhere');
    mkdirSync(elsewhere);
    copyFileSync(join(data, 'master.key'), join(elsewhere, 'master.key'));
    const restored = await operator(['restore', backup, '--data', elsewhere]);
    expect([restored.code, restored.err]).toEqual([0, expect.stringContaining('4 of 4 projects')]);
    expect(existsSync(join(elsewhere, 'restoring'))).toBe(false);

    gateway = await startGatewayProcess(elsewhere, 2);
    for (const member of members) {
      for (let n = 1; n <= (before.get(member.id) ?? 0); n += 1) {
        const get = ['GET', `/v1/kv/n-${String(n).padStart(6, '0')}`] as const;
        expect((await call(gateway.url, member, get)).body).toMatchObject({ value: n });
      }
      const file = await call(gateway.url, member, ['GET', '/v1/files/big']);
      expect(file.body['content_base64']).toBe(CONTENT.toString('base64'));
      const verified = await call(gateway.url, member, ['POST', '/v1/ledger/verify', {}]);
      expect(verified.body).toMatchObject({ ok: true });
      expect((await call(gateway.url, member, ['PUT', '/v1/kv/new', 1])).status).toBe(200);
    }
    await gateway.end();
    gateway = null;
  });
});

/** A copy of the backup to be spoilt, beside a new data folder with the right key. */
function prepared(name: string): { copy: string; target: string } {
  const copy = join(root.path, `${name}-copy`);
  const target = join(root.path, `${name}-data`);
  cpSync(backup, copy, { recursive: true });
  mkdirSync(target);
  copyFileSync(join(data, 'master.key'), join(target, 'master.key'));
  return { copy, target };
}

/** Every file of the backup, within it. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => statSync(join(folder, file)).isFile())
    .toSorted();
}

function flipByte(path: string): void {
  const bytes = readFileSync(path);
  const at = Math.floor(bytes.length / 2);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  rmSync(path);
  writeFileSync(path, bytes);
}

describe('a damaged backup', () => {
  it('is refused by the name of whichever file has one bit changed, and nothing starts on it', async () => {
    const { copy, target } = prepared('flipped');
    const files = filesOf(copy);
    expect(files.some((file) => file.includes('/blobs/'))).toBe(true);
    const [blob] = files.filter((file) => file.includes('/blobs/'));
    const [database] = files.filter((file) => file.endsWith('project.db'));
    for (const file of ['control.db', 'manifest.json', blob ?? '', database ?? '']) {
      rmSync(copy, { recursive: true });
      cpSync(backup, copy, { recursive: true });
      flipByte(join(copy, file));
      const refused = await operator(['restore', copy, '--data', target]);
      expect([refused.code, refused.out]).toEqual([1, '']);
      expect(refused.err).toContain(`${join(copy, file)} is damaged`);
      expect(readdirSync(target)).toEqual(['master.key']);
    }
    // As a restore leaves it that was killed while it put everything in place.
    for (const left of ['restoring', 'projects'])
      mkdirSync(join(target, left, 'half'), { recursive: true });
    const good = await operator(['restore', backup, '--data', target, '--json']);
    expect([good.code, JSON.parse(good.out)]).toMatchObject([0, { data: target, projects: 4 }]);
  });

  it('is refused when a file is missing', async () => {
    const { copy, target } = prepared('missing');
    const [blob] = filesOf(copy).filter((file) => file.includes('/blobs/'));
    rmSync(join(copy, blob ?? ''));
    const refused = await operator(['restore', copy, '--data', target]);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('is missing') });
  });

  it('with the key in it leaves neither a key nor a folder where it was to go', async () => {
    const copy = join(root.path, 'damaged-with-key');
    const made = await operator(['backup', copy, '--data', data, '--include-key']);
    expect(made.code).toBe(0);
    flipByte(join(copy, 'control.db'));
    const target = join(root.path, 'new', 'folder');
    const refused = await operator(['restore', copy, '--data', target]);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('is damaged') });
    expect(existsSync(join(root.path, 'new'))).toBe(false);
  });
});

describe('a restore', () => {
  it('is refused with another master key, and without one', async () => {
    const target = join(root.path, 'wrong-key');
    mkdirSync(target);
    const without = await operator(['restore', backup, '--data', target]);
    expect(without).toMatchObject({ code: 1, out: '' });
    expect(without.err).toContain(`Put it at ${join(target, 'master.key')}`);
    const keyFile = join(root.path, 'other.key');
    writeFileSync(keyFile, `${randomBytes(32).toString('base64')}\n`);
    const env = { SVC_MASTER_KEY_FILE: keyFile };
    const wrong = await operator(['restore', backup, '--data', target], env);
    expect(wrong).toMatchObject({ code: 1, out: '' });
    expect(wrong.err).toContain("This isn't the master key that the secrets of project");
    const right = { SVC_MASTER_KEY_FILE: join(data, 'master.key') };
    expect((await operator(['restore', backup, '--data', target], right)).code).toBe(0);
  });

  it('is refused where no folder can be made', async () => {
    const refused = await operator(['restore', backup, '--data', '/proc/nope/data']);
    expect(refused.code).toBe(1);
    expect(refused.err).toMatch(/\/proc\/nope\/data can't be created \(E\w+\)/);
  });

  it('is refused into a folder with anything in it, and from one that is no backup', async () => {
    const into = await operator(['restore', backup, '--data', data]);
    expect(into).toMatchObject({ code: 1, err: expect.stringContaining("isn't empty") });
    const none = await operator(['restore', join(root.path, 'nothing'), '--data', data]);
    expect(none).toMatchObject({ code: 1, err: expect.stringContaining('is no backup') });
  });
});

describe('a backup', () => {
  it('may hold the master key, says so, and needs no other then', async () => {
    const folder = join(root.path, 'with-key');
    const made = await operator(['backup', folder, '--data', data, '--include-key']);
    expect([made.code, made.err]).toEqual([0, expect.stringContaining('IS IN THIS BACKUP')]);
    expect(made.out).toContain(`Backed up ${data} to ${folder}: 4 projects, 3 blobs`);
    expect(statSync(join(folder, 'master.key')).mode & 0o077).toBe(0);
    const target = join(root.path, 'from-key');
    expect((await operator(['restore', folder, '--data', target])).code).toBe(0);
    expect(readFileSync(join(target, 'master.key'))).toEqual(
      readFileSync(join(data, 'master.key')),
    );
  });

  it('of a gateway that was killed leaves its data to the letter as they were', async () => {
    // A copy: what this process has had open is closed some time later, and folds its log in then.
    const own = join(root.path, 'killed-data');
    cpSync(data, own, { recursive: true });
    const killed = await startGatewayProcess(own, 8);
    const [member] = members;
    if (!member) throw new Error('no member');
    await call(killed.url, member, ['PUT', '/v1/kv/killed', 1]);
    await killed.kill();
    const databases = (): (readonly [string, string])[] =>
      filesOf(own)
        .filter((file) => /\.db(?:-wal)?$/.test(file))
        .map((file) => [file, readFileSync(join(own, file)).toString('base64')] as const)
        // Looking into a database that nobody has open leaves a log without anything in it.
        .filter(([, text]) => text !== '');
    const before = databases();
    expect(before.some(([file]) => file.endsWith('-wal'))).toBe(true);
    const folder = join(root.path, 'of-killed');
    expect((await operator(['backup', folder, '--data', own])).code).toBe(0);
    expect(databases()).toEqual(before);
    const target = join(root.path, 'restored-killed');
    const env = { SVC_MASTER_KEY_FILE: join(data, 'master.key') };
    expect((await operator(['restore', folder, '--data', target], env)).code).toBe(0);
    copyFileSync(join(data, 'master.key'), join(target, 'master.key'));
    const again = await startGatewayProcess(target, 8);
    const read = await call(again.url, member, ['GET', '/v1/kv/killed']);
    await again.end();
    expect(read.body).toMatchObject({ value: 1 });
  });

  it('writes over nothing, and leaves nothing when it fails', async () => {
    const over = await operator(['backup', backup, '--data', data]);
    expect(over).toMatchObject({ code: 1, err: expect.stringContaining('already exists') });
    const folder = join(root.path, 'failing');
    const nothing = await operator(['backup', folder, '--data', join(root.path, 'no-data')]);
    expect(nothing).toMatchObject({
      code: 1,
      err: expect.stringContaining('holds no gateway data'),
    });
    expect(readdirSync(root.path).filter((name) => name.startsWith('failing'))).toEqual([]);
  });

  it('that was killed leaves a folder, which the next one removes, whatever it is called', async () => {
    const left = join(root.path, 'killed-copy.partial');
    const foreign = join(root.path, 'foreign.partial');
    const running = join(root.path, 'running.partial');
    mkdirSync(foreign);
    const lock = takeLock(join(running, '.svc-copying'));
    const child = spawn(process.execPath, [OPERATOR, 'backup', left.slice(0, -8), '--data', data]);
    await expect.poll(() => existsSync(join(left, 'control.db')), { interval: 1 }).toBe(true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(existsSync(left)).toBe(true);
    expect((await operator(['backup', join(root.path, 'next-copy'), '--data', data])).code).toBe(0);
    expect(existsSync(left)).toBe(false);
    expect([existsSync(foreign), existsSync(running)]).toEqual([true, true]);
    const refused = await operator(['backup', join(root.path, 'running'), '--data', data]);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('backup is running') });
    lock?.release();
    expect((await operator(['backup', join(root.path, 'running'), '--data', data])).code).toBe(0);
    expect(readdirSync(join(root.path, 'running')).toSorted()).toEqual(
      readdirSync(join(root.path, 'next-copy')).toSorted(),
    );
  });
});
