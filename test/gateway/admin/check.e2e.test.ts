import { hash, randomBytes } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { flipBit, flipBitAt } from '../../helpers/flipped.ts';
import { TestGateway, temporaryFolder } from '../../helpers/gateway.ts';
import { takeLock, type Lock } from '../../../shared/store/engine/lock.ts';
import { PlainBucket } from '../../helpers/plain-bucket.ts';
import { operator } from './operator.ts';

interface Finding {
  readonly file: string;
  readonly what: string;
  readonly problem: string;
}

interface Repair {
  readonly done: boolean;
  readonly repaired: readonly Record<string, unknown>[];
  readonly damage: readonly Finding[];
}

const BLOBS = 21;
/** Inside a blob's first byte, its middle and its last. */
const PLACES = [0, 0.5, 1];

let root: ReturnType<typeof temporaryFolder>;
let data: string;
let backup: string;
let gateway: TestGateway | null;
let project: string;
let key: string;
beforeEach(async () => {
  root = temporaryFolder();
  data = join(root.path, 'data');
  backup = join(root.path, 'backup');
  mkdirSync(data);
  await start();
});
afterEach(async () => {
  await stop();
  root.remove();
});

async function start(): Promise<TestGateway> {
  const projectOf = project && key && gateway === null ? { projectId: project, apiKey: key } : null;
  const isSame = projectOf !== null && readdirSync(data).includes('control.db');
  gateway = await TestGateway.start({ folder: data, ...(isSame && { projectOf }) });
  ({ projectId: project, apiKey: key } = gateway);
  return gateway;
}

async function stop(): Promise<void> {
  await gateway?.stop({ keepFolder: true });
  gateway = null;
}

async function put(path: string, bytes: Uint8Array<ArrayBuffer>): Promise<number> {
  const answer = await fetch(`${gateway?.url}/v1/files/${path}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'image/png' },
    body: bytes,
  });
  return answer.status;
}

async function get(path: string): Promise<{ status: number; bytes: string | null }> {
  const answer = await gateway?.call('GET', `/v1/files/${path}`);
  const bytes = answer?.body['content_base64'];
  return { status: answer?.status ?? 0, bytes: typeof bytes === 'string' ? bytes : null };
}

function nameOf(bytes: Uint8Array): string {
  const digest = hash('sha256', bytes);
  return join('projects', project, 'blobs', digest.slice(0, 2), digest);
}

async function seed(count = BLOBS): Promise<Uint8Array<ArrayBuffer>[]> {
  const made = Array.from({ length: count }, () => new Uint8Array(randomBytes(3000)));
  for (const [index, bytes] of made.entries()) expect(await put(`f/${index}`, bytes)).toBe(200);
  return made;
}

async function check(): Promise<{ code: number; damage: Finding[] }> {
  const { code, out, err } = await operator(['check', '--data', data, '--json']);
  expect(err).toMatch(/^Checking: 0 of \d/);
  return { code, damage: (JSON.parse(out) as { damage: Finding[] }).damage };
}

async function repair(...args: string[]): Promise<Repair & { code: number }> {
  const { code, out } = await operator(['repair', ...args, '--data', data, '--json']);
  return { code, ...(JSON.parse(out) as Repair) };
}

async function backUp(to = backup): Promise<number> {
  return (await operator(['backup', to, '--data', data])).code;
}

/** The seq of the newest ledger entry. */
async function ledgerSeq(): Promise<number> {
  const answer = await gateway?.call<{ items: { seq: number }[] }>('GET', '/v1/ledger?limit=1');
  return answer?.body.items[0]?.seq ?? 0;
}

/** Writes over some pages of a database. */
function ruin(database: string): void {
  const path = join(data, database);
  const bytes = readFileSync(path);
  for (let page = 3; page * 4096 < bytes.length; page += 2) {
    randomBytes(4096).copy(bytes, page * 4096);
  }
  writeFileSync(path, bytes);
}

describe('svc gateway check', () => {
  it('finds nothing wrong with good data, running or stopped', async () => {
    await seed(2);
    expect(await check()).toEqual({ code: 0, damage: [] });
    await stop();
    expect(await check()).toEqual({ code: 0, damage: [] });
  });

  it.each(['while it runs', 'while it is stopped'])(
    'names each of 63 flipped bits %s; none is served, no backup is green, the rest goes on',
    async (when) => {
      const blobs = await seed();
      const good = new Uint8Array(randomBytes(500));
      expect(await put('good', good)).toBe(200);
      if (when === 'while it is stopped') await stop();
      for (const place of PLACES) {
        for (const bytes of blobs) flipBit(join(data, nameOf(bytes)), place);
        const { code, damage } = await check();
        expect(code).toBe(1);
        expect(damage.map(({ file }) => file).toSorted()).toEqual(blobs.map(nameOf).toSorted());
        expect(await backUp(`${backup}-${place}`)).not.toBe(0);
        if (gateway === null) await start();
        for (const index of blobs.keys()) expect(await get(`f/${index}`)).toEqual(BROKEN);
        expect(await get('good')).toMatchObject({ status: 200 });
        expect(gateway?.gateway.damage).toHaveLength(BLOBS);
        if (when === 'while it is stopped') await stop();
        for (const bytes of blobs) flipBit(join(data, nameOf(bytes)), place);
        expect((await check()).code).toBe(0);
      }
    },
  );

  it('names a missing blob, a ruined database and a key that opens nothing', async () => {
    const [bytes = new Uint8Array()] = await seed(1);
    await stop();
    rmSync(join(data, nameOf(bytes)));
    expect((await check()).damage).toMatchObject([{ file: nameOf(bytes), problem: 'is missing' }]);
    flipBit(join(data, 'master.key'));
    const { damage } = await check();
    expect(damage).toContainEqual(expect.objectContaining({ what: 'master key' }));
    const database = join('projects', project, 'project.db');
    ruin(database);
    const { damage: more } = await check();
    expect(more).toContainEqual(expect.objectContaining({ file: database }));
    writeFileSync(join(data, database), randomBytes(8192));
    writeFileSync(join(data, nameOf(bytes)), 'something else');
    const { damage: most } = await check();
    expect(most).toContainEqual(expect.objectContaining({ file: nameOf(bytes), what: 'blob' }));
  });

  it('names a damaged blob whose name is damaged in the database, too', async () => {
    const [bytes = new Uint8Array()] = await seed(1);
    await stop();
    const database = join(data, 'projects', project, 'project.db');
    const pages = readFileSync(database);
    const digest = hash('sha256', bytes);
    for (let at = pages.indexOf(digest); at >= 0; at = pages.indexOf(digest, at + 1)) {
      flipBitAt(database, at + 20);
    }
    flipBit(join(data, nameOf(bytes)));
    const { damage } = await check();
    expect(damage).toContainEqual(
      expect.objectContaining({ file: nameOf(bytes), problem: "doesn't match its digest" }),
    );
  });

  it('names a database that was cut off, and says what to do, without a stack', async () => {
    await stop();
    const database = join('projects', project, 'project.db');
    writeFileSync(join(data, database), readFileSync(join(data, database)).subarray(0, 5000));
    rmSync(join(data, `${database}-wal`), { force: true });
    const { code, out } = await operator(['check', '--data', data]);
    expect(code).toBe(1);
    expect(out).toContain(database);
    expect(out).toContain(`svc gateway repair --data ${data} --from BACKUP`);
    expect(out).not.toContain('    at ');
  });

  it('looks at the projects though the control database is ruined', async () => {
    const [bytes = new Uint8Array()] = await seed(1);
    await stop();
    flipBit(join(data, nameOf(bytes)));
    writeFileSync(join(data, 'control.db'), randomBytes(8192));
    rmSync(join(data, 'control.db-wal'), { force: true });
    const { damage } = await check();
    expect([...new Set(damage.map(({ file }) => file))]).toEqual(['control.db', nameOf(bytes)]);
  });
});

describe('a backup of damaged data', () => {
  it('takes the rest, says what it lacks and is not a success; its restore says so too', async () => {
    const [first = new Uint8Array(), second = new Uint8Array()] = await seed(3);
    flipBit(join(data, nameOf(first)));
    rmSync(join(data, nameOf(second)));
    const made = await operator(['backup', backup, '--data', data, '--json']);
    expect(made.code).toBe(1);
    expect(made.err).toContain('THIS BACKUP LACKS 2 damaged objects');
    const lacks = [
      { file: nameOf(first), what: 'blob', problem: "doesn't match its digest" },
      { file: nameOf(second), what: 'blob', problem: 'is missing' },
    ];
    const { damage, blobs } = JSON.parse(made.out) as { damage: Finding[]; blobs: number };
    expect(damage.map(({ file }) => file).toSorted()).toEqual(
      lacks.map(({ file }) => file).toSorted(),
    );
    for (const one of lacks) expect(damage).toContainEqual(expect.objectContaining(one));
    expect(blobs).toBe(1);
    await stop();
    const other = join(root.path, 'other');
    const env = { SVC_MASTER_KEY_FILE: join(data, 'master.key') };
    const restored = await operator(['restore', backup, '--data', other], env);
    expect(restored.code).toBe(0);
    expect(restored.err).toContain('The backup lacked 2 objects that had been damaged.');
    expect(restored.err).toContain(nameOf(first));
    copyFileSync(join(data, 'master.key'), join(other, 'master.key'));
    data = other;
    await start();
    expect((await get('f/2')).status).toBe(200);
    expect(await get('f/0')).toEqual(BROKEN);
    expect(gateway?.gateway.damage).toHaveLength(2);
  });

  it('goes on without a project whose database is ruined', async () => {
    await seed(1);
    const other = await gateway?.gateway.createProject({ name: 'Other', slug: 'other' });
    await stop();
    ruin(join('projects', project, 'project.db'));
    const made = await operator(['backup', backup, '--data', data, '--json']);
    expect(made.code).toBe(1);
    expect(JSON.parse(made.out)).toMatchObject({
      projects: 2,
      damage: [{ file: join('projects', project, 'project.db'), what: 'database' }],
    });
    const restored = join(root.path, 'other');
    const env = { SVC_MASTER_KEY_FILE: join(data, 'master.key') };
    expect((await operator(['restore', backup, '--data', restored], env)).code).toBe(0);
    copyFileSync(join(data, 'master.key'), join(restored, 'master.key'));
    data = restored;
    project = other?.project.id ?? '';
    key = other?.apiKey ?? '';
    await start();
    expect(await put('works', new Uint8Array(randomBytes(10)))).toBe(200);
  });
});

const BROKEN = { status: 500, bytes: null };

describe('svc gateway repair', () => {
  it('puts a blob from a backup in place while the gateway runs, and touches nothing else', async () => {
    const [first = new Uint8Array(), second = new Uint8Array()] = await seed(2);
    expect(await backUp()).toBe(0);
    flipBit(join(data, nameOf(first)));
    rmSync(join(data, nameOf(second)));
    expect(await get('f/0')).toEqual(BROKEN);
    const done = await repair('--from', backup);
    expect(done).toMatchObject({ code: 0, done: true, damage: [] });
    const names = [nameOf(first), nameOf(second)].toSorted();
    expect(done.repaired.map(({ file }) => String(file)).toSorted()).toEqual(names);
    expect(done.repaired.map(({ from }) => from)).toEqual([backup, backup]);
    expect(await get('f/0')).toEqual({ status: 200, bytes: Buffer.from(first).toString('base64') });
    expect((await get('f/1')).status).toBe(200);
    expect(gateway?.gateway.damage).toEqual([]);
    expect(await repair('--from', backup)).toMatchObject({ code: 0, repaired: [] });
  });

  it('puts no damaged copy in place, and says what is left', async () => {
    const [bytes = new Uint8Array()] = await seed(1);
    expect(await backUp()).toBe(0);
    flipBit(join(data, nameOf(bytes)), 0);
    flipBit(join(backup, nameOf(bytes)), 1);
    const done = await repair('--from', backup);
    expect(done).toMatchObject({ code: 1, repaired: [], damage: [{ file: nameOf(bytes) }] });
  });

  it('puts a blob from another bucket in place', async () => {
    const bucket = await PlainBucket.start();
    try {
      const [bytes = new Uint8Array()] = await seed(1);
      const digest = hash('sha256', bytes);
      const object = `${bucket.place.endpoint.href}bucket/projects/${project}/blobs/${digest}`;
      expect((await fetch(object, { method: 'PUT', body: bytes })).status).toBe(200);
      flipBit(join(data, nameOf(bytes)));
      const address = `s3://bucket?endpoint=${bucket.place.endpoint.origin}&region=r&path_style=true`;
      const env = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };
      const ran = await operator(['repair', '--bucket', address, '--data', data], env);
      expect(ran.out).toBe(
        `Replaced ${nameOf(bytes)} (blob) from s3://bucket.\nAll of ${data} is as it was written.\n`,
      );
      expect((await get('f/0')).status).toBe(200);
    } finally {
      await bucket.stop();
    }
  });

  it('replaces a database only with --yes, and says what is lost', async () => {
    await seed(2);
    expect(await backUp()).toBe(0);
    const seq = await ledgerSeq();
    expect(await put('later', new Uint8Array(randomBytes(10)))).toBe(200);
    await stop();
    const database = join('projects', project, 'project.db');
    ruin(database);
    const planned = await repair('--from', backup);
    expect(planned).toMatchObject({
      code: 1,
      done: false,
      repaired: [{ file: database, from: backup, ledger_after: { seq }, kept: null }],
    });
    const done = await repair('--from', backup, '--yes');
    expect(done).toMatchObject({ code: 0, done: true, damage: [] });
    expect(readdirSync(join(data, String(done.repaired[0]?.['kept'])))).toContain('project.db');
    await start();
    expect(await ledgerSeq()).toBe(seq);
    expect((await get('f/1')).status).toBe(200);
    expect((await get('later')).status).toBe(404);
    expect(await put('after', new Uint8Array(randomBytes(10)))).toBe(200);
  });

  it("replaces a database by a member's replica, which is newer", async () => {
    await seed(1);
    expect(await backUp()).toBe(0);
    expect(await put('later', new Uint8Array(randomBytes(10)))).toBe(200);
    const seq = await ledgerSeq();
    await stop();
    const database = join('projects', project, 'project.db');
    const replica = join(root.path, 'replicas', project);
    mkdirSync(replica, { recursive: true });
    for (const end of ['', '-wal']) {
      writeFileSync(join(replica, `replica.db${end}`), readFileSync(join(data, database + end)));
    }
    ruin(database);
    const done = await repair('--from', backup, '--replica', replica, '--yes');
    expect(done).toMatchObject({
      code: 0,
      repaired: [{ file: database, from: replica, ledger_after: { seq } }],
    });
    await start();
    expect((await get('later')).status).toBe(200);
    expect(await put('after', new Uint8Array(randomBytes(10)))).toBe(200);
  });

  it('refuses to replace a database that a gateway uses', async () => {
    await seed(1);
    expect(await backUp()).toBe(0);
    await stop();
    ruin(join('projects', project, 'project.db'));
    const lock = holdLock();
    try {
      const { code, err } = await operator(['repair', '--from', backup, '--yes', '--data', data]);
      expect(code).toBe(1);
      expect(err).toContain('Stop it first');
    } finally {
      lock.release();
    }
  });

  it('replaces a ruined control database from a backup', async () => {
    await seed(1);
    expect(await backUp()).toBe(0);
    await stop();
    writeFileSync(join(data, 'control.db'), randomBytes(8192));
    rmSync(join(data, 'control.db-wal'), { force: true });
    const done = await repair('--from', backup, '--yes');
    expect(done).toMatchObject({ code: 0, damage: [], repaired: [{ file: 'control.db' }] });
    await start();
    expect((await get('f/0')).status).toBe(200);
  });
});

function holdLock(): Lock {
  const lock = takeLock(join(data, 'lock'));
  if (!lock) throw new Error('The lock is held.');
  return lock;
}
