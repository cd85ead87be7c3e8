import { execFile } from 'node:child_process';
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ControlStore } from '../../../gateway/store/control-store.ts';
import { TestGateway, temporaryFolder } from '../../helpers/gateway.ts';

const POINTS = [
  'begin before',
  'begin after',
  'blobs before',
  'blobs halfway',
  'blobs after',
  'database before',
  'database halfway',
  'database after',
  'finish before',
  'finish after',
];

const root = temporaryFolder();
let key: string;
let projectId: string;

const data = (name: string): string => join(root.path, name, 'data');
const blobs = (name: string): string => join(root.path, name, 'blobs');

function start(name: string): Promise<TestGateway> {
  const folder = blobs(name);
  return TestGateway.start({ folder: data(name), blobs: { kind: 'file', folder }, signIn: true });
}

beforeAll(async () => {
  const gateway = await start('before');
  ({ projectId, apiKey: key } = gateway);
  await gateway.call('PUT', '/v1/files/note.txt', { body: 'kept' });
  await gateway.stop();
});
afterAll(() => root.remove());

/** Where the program died, and of what. */
function dyingAt(name: string, point: string): Promise<{ at: string; signal: unknown }> {
  const program = 'test/gateway/projects/deletion-dying-program.ts';
  const args = ['--import', 'tsx', program, data(name), blobs(name), projectId, point];
  return new Promise((done) => {
    execFile(process.execPath, args, (error, at) => done({ at, signal: error?.signal ?? null }));
  });
}

/** The control database’s word on the project. */
async function recordIn(name: string): Promise<unknown> {
  const control = await ControlStore.open(
    { kind: 'file', path: join(data(name), 'control.db') },
    () => undefined,
  );
  try {
    return (await control.findProject(projectId)) ?? null;
  } finally {
    await control.close();
  }
}

describe('a gateway that dies while it deletes a project', () => {
  it.each(POINTS)('(%s) has nothing left of it after its next start', async (point) => {
    const name = point.replace(' ', '-');
    cpSync(join(root.path, 'before'), join(root.path, name), { recursive: true });
    expect(existsSync(join(blobs(name), 'projects', projectId))).toBe(true);
    expect(await dyingAt(name, point)).toEqual({ at: point, signal: 'SIGKILL' });
    const gateway = await start(name);
    try {
      const folders = [data(name), blobs(name)].map((at) => join(at, 'projects', projectId));
      await vi.waitFor(() => expect(folders.filter((at) => existsSync(at))).toEqual([]), {
        timeout: 60_000,
      });
      const { status } = await gateway.call('GET', '/v1/whoami', { key });
      expect(status).toBe(401);
      const { items } = await gateway.gateway.operator.list(100, undefined);
      expect(items.map(({ id }) => id)).not.toContain(projectId);
    } finally {
      await gateway.stop();
    }
    expect(await recordIn(name)).toBeNull();
  });
});
