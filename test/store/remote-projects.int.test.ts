import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { LedgerWriter } from '../../gateway/commit/context/ledger-writer.ts';
import { SERVICE } from '../../shared/rules/actor.ts';
import { CHAIN_START, verifyChunk } from '../../shared/rules/ledger-chain.ts';
import { ControlStore } from '../../gateway/store/control-store.ts';
import { openReadOnly } from '../../gateway/store/read-only.ts';
import type { RemoteLocation } from '../../shared/store/engine/location.ts';
import { newestSchema } from '../../shared/store/engine/migrate.ts';
import { ProjectReader } from '../../shared/store/project-store.ts';
import { ProjectWriter } from '../helpers/project-writer.ts';
import { openClient } from '../../shared/store/remote/client.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { startHrana, type HranaServer } from '../helpers/hrana/server.ts';
import { PATIENT } from '../helpers/shared-store.ts';

const PROJECT = 'prj_0000000000000000';
let server: HranaServer;
let folder: ReturnType<typeof temporaryFolder>;
let mirrors = 0;
beforeEach(async () => {
  folder = temporaryFolder();
  server = await startHrana({ ...PATIENT, folder: folder.path });
  onTestFinished(folder.remove);
});
afterEach(() => server.stop());

/** A database on the server, as another gateway each time has it. */
const at = (name: string): RemoteLocation => ({
  kind: 'remote',
  url: server.urlOf(name),
  token: null,
  mirror: join(folder.path, `mirror-${String((mirrors += 1))}`, 'project.db'),
});

async function openProject(name = 'project'): Promise<ProjectWriter> {
  const writer = await ProjectWriter.open(at(name), PROJECT, { onFatal: () => undefined });
  onTestFinished(() => writer.close());
  return writer;
}

async function query(name: string, sql: string): Promise<unknown[]> {
  const client = openClient(at(name));
  const { rows } = await client.execute(sql);
  client.close();
  return rows.map((row) => row[0]);
}

describe('a database on a server', () => {
  it('gets the tables of this release once, by whichever of several gateways is first', async () => {
    const writers = await Promise.all([openProject(), openProject(), openProject()]);
    expect(await query('project', 'PRAGMA user_version')).toEqual([
      BigInt(newestSchema('project')),
    ]);
    expect(writers.map(({ queue }) => queue.replication.position)).toEqual([0, 0, 0]);
    const reader = new ProjectReader(await openReadOnly(at('project')), PROJECT);
    expect(await reader.read((store) => store.meta.strangeName())).toBeNull();
    await reader.close();
  });

  it('is left as it was when a statement of that fails', async () => {
    await query('project', 'CREATE TABLE ledger (mine TEXT)');
    await expect(openProject()).rejects.toThrow(/ledger/);
    expect(await query('project', 'SELECT name FROM sqlite_schema')).toEqual(['ledger']);
    expect(await query('project', 'PRAGMA user_version')).toEqual([0n]);
  });

  it('of a newer release is refused and left alone', async () => {
    await query('project', 'PRAGMA user_version=999');
    await expect(openProject()).rejects.toThrow(/schema 999, newer than .* update svc/);
    expect(await query('project', 'SELECT count(*) FROM sqlite_schema')).toEqual([0n]);
  });

  it('keeps a ledger to which two gateways append, each entry linked to the one before', async () => {
    const writers = [await openProject(), await openProject()];
    const ledgerWriter = new LedgerWriter(new Uint8Array(32));
    const action = { actor: SERVICE, op: 'event_received', subject: null };
    await Promise.all(
      writers.flatMap((writer) =>
        Array.from({ length: 100 }, (_, n) =>
          writer.write((store) => ledgerWriter.record(store, action, 1_700_000_000_000 + n)),
        ),
      ),
    );
    const reader = new ProjectReader(await openReadOnly(at('project')), PROJECT);
    const entries = await reader.read((store) => store.ledger.range(1, 1000, 1000));
    await reader.close();
    expect(entries).toHaveLength(200);
    expect(verifyChunk(PROJECT, CHAIN_START, entries)).toMatchObject({
      ok: true,
      state: { expectedSeq: 201 },
    });
  });

  it('is not made anew where it was made before, and is empty', async () => {
    const options = { onFatal: () => undefined, isMade: true };
    await expect(ProjectWriter.open(at('project'), PROJECT, options)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      cause: { message: 'The database is empty, and was not.' },
    });
    await openProject();
    const again = await ProjectWriter.open(at('project'), PROJECT, options);
    expect(again.queue.replication.position).toBe(0);
    await again.close();
  });

  it('may be the control database, and a project is made once', async () => {
    const stores = await Promise.all([
      ControlStore.open(at('control'), () => undefined),
      ControlStore.open(at('control'), () => undefined),
    ]);
    const project = { id: PROJECT, slug: 's', name: 'S', created_at: '2026-01-01T00:00:00.000Z' };
    const reserved = await Promise.allSettled(stores.map((store) => store.reserveProject(project)));
    expect(reserved.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    await stores[0].confirmProject(PROJECT);
    expect(await stores[1].findProjectBySlug('s')).toEqual({ ...project, state: 'active' });
    await Promise.all(stores.map((store) => store.close()));
  });
});
