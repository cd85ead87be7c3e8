import { parentPort, workerData } from 'node:worker_threads';
import { InProcessWriters } from './in-process.ts';
import { gcAfterStart } from '../../../shared/host/gc-after-start.ts';
import type { Effect } from '../context/job.ts';
import type { Batch, Request, ThreadData } from './messages.ts';
import { toPlain } from './plain-error.ts';
import type { InputOf } from '../commands.ts';

/**
 * The writer thread: batches of requests come in, batches of replies go out. Group commit forms the batches: all
 * replies of one commit leave in one message.
 */
if (!parentPort) throw new Error('This file runs as a worker thread.');
const port = parentPort;
const { masterKey, server } = workerData as ThreadData;
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
    case 'open': {
      const { project } = request;
      return writers.open(project, (effects) => addEffects(project.info.id, effects));
    }
    case 'run':
      return writers.run(
        request.projectId,
        request.name,
        request.input as InputOf<typeof request.name>,
      );
    default:
      return writers[request.kind](request.projectId);
  }
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
