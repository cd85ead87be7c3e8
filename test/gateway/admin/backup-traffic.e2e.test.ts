import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { backUp } from '../../../gateway/admin/backup/backup.ts';
import { withRawDatabase } from '../../helpers/database.ts';
import { TestGateway, temporaryFolder } from '../../helpers/gateway.ts';
import { startHrana, type HranaServer } from '../../helpers/hrana/server.ts';
import { startGatewayProcess, type GatewayProcess } from '../server/gateway-process.ts';
import { seed, type Seeded } from './moving.ts';
import { operator } from './operator.ts';
import { Overwriter } from './overwriter.ts';

const FILES = 30;
const PER_SECOND = 50;
const COPIES = 3;

const root = temporaryFolder();
const data = join(root.path, 'data');
let project: Seeded;
let gateway: GatewayProcess;
let overwriter: Overwriter;

beforeAll(async () => {
  mkdirSync(data);
  project = await seed(data);
  gateway = await startGatewayProcess(data, 8);
  const { url } = gateway;
  overwriter = new Overwriter({
    url,
    apiKey: project.apiKey,
    files: FILES,
    perSecond: PER_SECOND,
  });
  await overwriter.fill();
  overwriter.start();
});
afterAll(async () => {
  await overwriter.stop();
  await gateway.kill();
  root.remove();
});

const blobsOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /^[0-9a-f]{2}\/[0-9a-f]{64}$/.test(name),
  );

interface Ledgers {
  readonly created_at: string;
  readonly ledgers: readonly { readonly project: string; readonly ledger: object }[];
}

interface Before {
  readonly project: Seeded;
  /** The head that the manifest names. */
  readonly ledger: object;
  readonly traffic: Overwriter;
  /** What was acknowledged before the copy began. */
  readonly before: ReadonlyMap<string, number>;
}

/** A gateway over this folder has the ledger that the manifest names, and every file. */
async function expectAsBefore(
  folder: string,
  { project: { apiKey: key }, ledger, traffic, before }: Before,
): Promise<void> {
  const again = await TestGateway.start({ folder });
  try {
    const verified = await again.call('POST', '/v1/ledger/verify', { body: {}, key });
    expect(verified.body).toMatchObject({ ok: true, head: ledger });
    for (const [name, from] of before) {
      const file = await again.call('GET', `/v1/files/${name}`, { key });
      const text = Buffer.from(String(file.body['content_base64']), 'base64').toString();
      expect([name, traffic.isContent(name, text, from)]).toEqual([name, true]);
    }
  } finally {
    await again.stop({ keepFolder: true });
  }
}

describe('while files are overwritten', () => {
  it('each backup succeeds, and restored has every file as it was at one moment', async () => {
    for (let n = 1; n <= COPIES; n += 1) {
      const before = overwriter.acknowledged();
      const folder = join(root.path, `backup-${n}`);
      const made = await operator(['backup', folder, '--data', data, '--json']);
      expect([made.code, made.err]).toEqual([0, expect.stringContaining('Backing up')]);
      const backup = JSON.parse(made.out) as Ledgers & { blobs: number };
      expect(backup.blobs).toBe(FILES + 1);

      const elsewhere = join(root.path, `restored-${n}`);
      mkdirSync(elsewhere);
      copyFileSync(join(data, 'master.key'), join(elsewhere, 'master.key'));
      const restored = await operator(['restore', folder, '--data', elsewhere, '--json']);
      expect(restored.code).toBe(0);
      const { ledgers, created_at } = JSON.parse(restored.out) as Ledgers;
      expect({ ledgers, created_at }).toEqual({
        ledgers: backup.ledgers,
        created_at: backup.created_at,
      });
      const { ledger = {} } = ledgers.find(({ project: id }) => id === project.id) ?? {};
      await expectAsBefore(elsewhere, { project, ledger, traffic: overwriter, before });
    }
  });

  it('each export succeeds, and has every file', async () => {
    for (let n = 1; n <= COPIES; n += 1) {
      const folder = join(root.path, `export-${n}`);
      const made = await operator(['export', project.id, folder, '--data', data, '--json']);
      expect([made.code, JSON.parse(made.out)]).toMatchObject([0, { blobs: FILES + 1 }]);
      expect(blobsOf(join(folder, 'blobs'))).toHaveLength(FILES + 1);
    }
  });

  it('what was overwritten meanwhile is erased once the copy is made', async () => {
    await overwriter.stop();
    const folder = join(data, 'projects', project.id);
    await expect.poll(() => blobsOf(join(folder, 'blobs')).length).toBe(FILES + 1);
    expect(readdirSync(folder).filter((name) => name.startsWith('copying'))).toEqual([]);
  });
});

describe('while files are overwritten and the databases are on a server', () => {
  const folder = join(root.path, 'on-server');
  let server: HranaServer;
  let running: TestGateway;
  let traffic: Overwriter;
  let shop: Seeded;

  beforeAll(async () => {
    mkdirSync(join(folder, 'server'), { recursive: true });
    server = await startHrana({ folder: join(folder, 'server') });
    const store = { url: `${server.url}/{project}/`, token: null, maker: null };
    shop = await seed(folder, { store });
    running = await TestGateway.start({ folder, signIn: true, store });
    const { url } = running;
    traffic = new Overwriter({ url, apiKey: shop.apiKey, files: FILES, perSecond: PER_SECOND });
    await traffic.fill();
    traffic.start();
  });
  afterAll(async () => {
    await traffic.stop();
    await running.stop({ keepFolder: true });
    await server.stop();
  });

  it('each export succeeds without a hold, and brought in has every file as it was at one moment', async () => {
    const env = { SVC_DATABASE_URL: `${server.url}/{project}/` };
    for (let n = 1; n <= COPIES; n += 1) {
      const before = traffic.acknowledged();
      const [made, elsewhere] = [join(folder, `export-${n}`), join(folder, `brought-${n}`)];
      const ran = await operator(['export', shop.id, made, '--data', folder, '--json'], env);
      expect([ran.code, ran.err]).toEqual([0, expect.any(String)]);
      const { ledger } = JSON.parse(readFileSync(join(made, 'manifest.json'), 'utf8')) as {
        readonly ledger: object;
      };
      mkdirSync(elsewhere);
      copyFileSync(join(folder, 'master.key'), join(elsewhere, 'master.key'));
      expect((await operator(['import', made, '--data', elsewhere])).code).toBe(0);
      await expectAsBefore(elsewhere, { project: shop, ledger, traffic, before });
    }
  });
});

describe('a project that is deleted during a backup', () => {
  const source = join(root.path, 'deleted-data');
  const folder = join(root.path, 'deleted-backup');
  const elsewhere = join(root.path, 'deleted-restored');
  afterEach(() => rmSync(source, { recursive: true, force: true }));

  it('does not make it fail, and is gone after a restore', async () => {
    mkdirSync(source);
    const lost = await seed(source);
    const manifest = await backUp({
      dataFolder: source,
      folder,
      keyFile: join(source, 'master.key'),
      bucket: null,
      now: Date.now(),
      signal: new AbortController().signal,
      onSpare: () => undefined,
      onProgress: () => {
        // As its gateway does it.
        withRawDatabase(join(source, 'control.db'), (control) =>
          control.exec(`UPDATE project SET state = 'deleting' WHERE id = '${lost.id}'`),
        );
        rmSync(join(source, 'projects', lost.id), { recursive: true, force: true });
      },
    });
    const entry = manifest.projects.find(({ id }) => id === lost.id);
    expect(entry).toMatchObject({ database: null });
    expect((await operator(['restore', folder, '--data', elsewhere])).code).toBe(0);
    const again = await TestGateway.start({ folder: elsewhere });
    const listed = await again.call('GET', '/v1/kv/a', { key: lost.apiKey });
    await again.stop({ keepFolder: true });
    expect(listed.status).toBe(401);
    expect(existsSync(join(elsewhere, 'projects', lost.id))).toBe(false);
  });
});
