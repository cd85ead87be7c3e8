import type { ReadContext } from '../shared/context.ts';
import { ServiceError } from '../shared/errors.ts';
import type { Handler, Operation } from '../shared/operation.ts';
import { findAnswer } from './kept-answers.ts';
import type { Project } from './project.ts';
import { fromPlain } from './writes/plain-error.ts';
import type { InputOf } from './writes/procedures.ts';

interface Write {
  readonly operation: Operation;
  readonly handler: Extract<Handler, { kind: 'write' }>;
  readonly input: unknown;
  readonly base: Omit<ReadContext, 'store'>;
  readonly project: Project;
  readonly brief: unknown;
  /** Keyed digest of the brief input: made before the transaction, which should be short. */
  readonly inputDigest: string;
}

/** Writes with an Idempotency-Key that are still running, by project, key and Idempotency-Key. */
const running = new WeakMap<Project, Set<string>>();

/** The phases of a write: prepare, the transaction with its ledger entry last, then the answer. */
export async function runWrite(call: Omit<Write, 'brief' | 'inputDigest'>): Promise<unknown> {
  const { base, project, operation } = call;
  const { caller, now, vault } = base;
  const brief = operation.briefOf(call.input);
  const write = { ...call, brief, inputDigest: project.recorder.digest(brief) };
  const { idempotencyKey } = caller;
  if (idempotencyKey === null) return runOnce(write);
  const inFlight = running.get(project) ?? new Set<string>();
  running.set(project, inFlight);
  const name = `${caller.keyId} ${idempotencyKey}`;
  if (inFlight.has(name)) throw new ServiceError('IDEMPOTENCY_IN_PROGRESS');
  inFlight.add(name);
  try {
    const keyed = {
      name: operation.name,
      caller,
      idempotencyKey,
      now,
      inputDigest: write.inputDigest,
    };
    const stored = await project.store.read((store) =>
      findAnswer({ store, project: project.info, vault }, keyed),
    );
    if (!stored) return await runOnce(write);
    return await answer(write, stored.committed);
  } finally {
    inFlight.delete(name);
  }
}

async function runOnce(write: Write): Promise<unknown> {
  const { handler, input, base, project } = write;
  const releases: (() => void)[] = [];
  try {
    const prepared = await handler.prepare?.(
      {
        ...base,
        blobs: project.blobs,
        directUploads: project.directUploads,
        finally: (release) => releases.push(release),
      },
      input,
    );
    const outcome = await project.writes.run('operation', toCall(write, prepared));
    if ('refused' in outcome) throw fromPlain(outcome.refused);
    return await answer(write, outcome.committed);
  } finally {
    for (const release of releases) release();
  }
}

function toCall(
  { operation, brief, base, inputDigest }: Write,
  prepared: unknown,
): InputOf<'operation'> {
  const { caller, now } = base;
  return { name: operation.name, input: brief, prepared, caller, now, inputDigest };
}

async function answer(write: Write, committed: unknown): Promise<unknown> {
  const { handler, input, base, project } = write;
  const present = handler.answer;
  if (!present) return committed;
  return project.store.read((store) => present({ ...base, store }, input, committed));
}
