import { parentPort, workerData } from 'node:worker_threads';
import { InProcessWriters, type InProcessWrites } from './in-process.ts';
import { gcAfterStart } from '../../shared/host/gc-after-start.ts';
import type { Effect } from './job.ts';
import type { Batch, Request, ThreadData } from './messages.ts';
import { toPlain } from './plain-error.ts';
import type { InputOf } from './commands.ts';

/**
 * The writer thread: batches of requests come in, batches of replies go out. Group commit forms the batches: all
 * replies of one commit leave in one message.
 */
if (!parentPort) throw new Error('This file runs as a worker thread.');
const port = parentPort;
const { masterKey, server } = workerData as ThreadData;
const open = new Map<string, InProcessWrites>();
let batch: Batch | null = null;

const writers = new InProcessWriters(
  {
    masterKey,
    server,
    onFatal: (error) => {
      outgoing().fatal = toPlain(error);
    },
  },
  true,
);

gcAfterStart();

port.on('message', (requests: readonly Request[]) => {
  for (const request of requests) {
    const { id } = request;
    handle(request).then(
      (value) => outgoing().done.push([id, value]),
      (error: unknown) => outgoing().failed.push([id, toPlain(error)]),
    );
  }
});

function handle(request: Request): Promise<unknown> {
  switch (request.kind) {
    case 'open':
      return openProject(request);
    case 'run':
      return found(request.projectId).run(request.name, request.input as InputOf<'operation'>);
    case 'follow':
      return found(request.projectId).follow();
    case 'copyBase':
      return found(request.projectId).copyBase();
    case 'rotate':
      return found(request.projectId).rotate();
    case 'close':
      return closeProject(request.projectId);
  }
}

async function openProject({ project }: Extract<Request, { kind: 'open' }>): Promise<Uint8Array> {
  const projectId = project.info.id;
  const writes = await writers.open(project, (effects) => addEffects(projectId, effects));
  open.set(projectId, writes);
  return writes.ledgerKey;
}

async function closeProject(projectId: string): Promise<void> {
  const writes = found(projectId);
  open.delete(projectId);
  await writes.close();
}

function found(projectId: string): InProcessWrites {
  const writes = open.get(projectId);
  if (!writes) throw new Error(`${projectId} is not open for writing.`);
  return writes;
}

/** Merges equal effects: a waiting caller needs one signal per kind, not one for each delivery of a burst. */
function addEffects(projectId: string, effects: readonly Effect[]): void {
  const all = outgoing().effects;
  for (const effect of effects) {
    const last = all.at(-1);
    if (!last || last[0] !== projectId || !sayTheSame(last[1], effect))
      all.push([projectId, effect]);
  }
}

function sayTheSame(one: Effect, other: Effect): boolean {
  if (one.kind !== 'event_ready' || other.kind !== 'event_ready') return false;
  return one.source === other.source && one.type === other.type;
}

/** The batch that leaves at the end of this event-loop turn, because all jobs of a commit settle in the same turn. */
function outgoing(): Batch {
  if (batch) return batch;
  const begun: Batch = { effects: [], done: [], failed: [], fatal: null };
  batch = begun;
  setImmediate(() => {
    batch = null;
    port.postMessage(begun);
  });
  return begun;
}
