import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openReadOnly } from '../../gateway/store/read-only.ts';
import type { RemoteLocation } from '../../shared/store/engine/location.ts';
import { ProjectReader } from '../../shared/store/project-store.ts';
import { ProjectWriter } from '../helpers/project-writer.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { HranaProcess } from '../helpers/hrana/process.ts';

const PROJECT = 'prj_0000000000000000';
let folder: ReturnType<typeof temporaryFolder>;
let server: HranaProcess;
beforeEach(async () => {
  folder = temporaryFolder();
  server = await HranaProcess.start({ folder: folder.path });
});
afterEach(async () => {
  await server.end();
  folder.remove();
});

describe('a server that is killed under load and started again', () => {
  it('has each write that was answered once, and of the others none twice', async () => {
    const port = Number(new URL(server.url).port);
    const url = server.urlOf('project');
    const open = (name: string): Promise<ProjectWriter> => {
      const mirror = join(folder.path, name, 'project.db');
      const at: RemoteLocation = { kind: 'remote', url, token: null, mirror };
      return ProjectWriter.open(at, PROJECT, { onFatal: () => undefined });
    };
    const writers = await Promise.all([open('one'), open('other')]);
    const answered = new Set<string>();
    const refused: unknown[] = [];
    const over = new AbortController();

    /** Fails if a name exists already, which shows a committed group that ran again. */
    const client = async (writer: ProjectWriter, who: number): Promise<void> => {
      for (let n = 0; !over.signal.aborted; n += 1) {
        const name = `w${who}-${n}`;
        await writer
          .write(async (store) => {
            if ((await store.meta.get(name)) !== undefined) throw new Error(`${name} is there`);
            await store.meta.set(name, 1);
          })
          .then(() => answered.add(name))
          .catch((error: unknown) => refused.push(error));
      }
    };
    const clients = Array.from({ length: 8 }, (_, who) =>
      client(writers[who % 2] as ProjectWriter, who),
    );
    for (let kills = 1; kills <= 2; kills += 1) {
      await expect.poll(() => answered.size).toBeGreaterThan(40 * kills);
      await server.end('SIGKILL');
      server = await HranaProcess.start({ folder: folder.path, port });
      const before = answered.size;
      await expect.poll(() => answered.size).toBeGreaterThan(before);
    }
    over.abort();
    await Promise.all(clients);

    const atServer = { kind: 'remote', url, token: null, mirror: '' } as const;
    const reader = new ProjectReader(await openReadOnly(atServer), PROJECT);
    const missing: string[] = [];
    await reader.read(async (store) => {
      for (const name of answered) {
        if ((await store.meta.get(name)) === undefined) missing.push(name);
      }
    });
    await Promise.all([reader.close(), ...writers.map((writer) => writer.close())]);
    expect(missing).toEqual([]);
    for (const error of refused) expect(error).toMatchObject({ code: 'UNAVAILABLE' });
  });
});
