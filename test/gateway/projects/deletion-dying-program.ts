import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { DeletionStore } from '../../../gateway/store/control/deletions.ts';
import { projectDelete } from '../../../shared/operations/project/delete.ts';
import { TestGateway } from '../../helpers/gateway.ts';

// Deletes a project as its owner, and kills itself at a point: `deletion-dying-program.ts FOLDER BLOBS PROJECT POINT`. The
// points are `begin`, `blobs`, `database` and `finish`, each with `before`, `halfway` (of what deletes files) or `after`.

const [folder = '', blobs = '', projectId = '', fatal = ''] = process.argv.slice(2);

function passing(point: string): void {
  if (point !== fatal) return;
  process.stdout.write(point);
  process.kill(process.pid, 'SIGKILL');
}

function dying(step: string, work: () => Promise<void>): Promise<void> {
  passing(`${step} before`);
  return work().then(() => passing(`${step} after`));
}

type Step = (this: DeletionStore, projectId: string) => Promise<void>;

const begin: Step = Reflect.get(DeletionStore.prototype, 'begin');
const finish: Step = Reflect.get(DeletionStore.prototype, 'finish');
DeletionStore.prototype.begin = function (id) {
  return dying('begin', () => begin.call(this, id));
};
DeletionStore.prototype.finish = function (id) {
  return dying('finish', () => finish.call(this, id));
};

const { rm } = files;
files.rm = (path, options) => {
  const step = [blobs, folder].findIndex((at) => path === join(at, 'projects', projectId));
  if (step < 0) return rm(path, options);
  const name = step === 0 ? 'blobs' : 'database';
  return dying(name, async () => {
    const [first] = await files.readdir(String(path));
    if (first !== undefined) await rm(join(String(path), first), { recursive: true });
    passing(`${name} halfway`);
    await rm(path, options);
  });
};
syncBuiltinESMExports();

const options = { folder, blobs: { kind: 'file', folder: blobs }, signIn: true } as const;
const { gateway } = await TestGateway.start(options);
const project = await gateway.projects.find(projectId);
const members = await project?.store.read((store) => store.members.list());
const owner = members?.find(({ role }) => role === 'owner');
await gateway.executor.execute(
  projectDelete,
  { name: project?.info.name },
  {
    projectId,
    keyId: 'owner',
    scopes: ['admin'],
    diskPrefixes: null,
    agent: { label: null, platform: 'test', source: 'none' },
    requestId: 'test',
    idempotencyKey: null,
    member: { id: owner?.id ?? '', role: 'owner' },
  },
  new AbortController().signal,
);
