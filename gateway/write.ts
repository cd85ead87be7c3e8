import type { ReadContext } from '../shared/context.ts';
import { ServiceError } from '../shared/errors.ts';
import type { Handler, Operation } from '../shared/operation.ts';
import { findAnswer } from './kept-answers.ts';
import type { Project } from './project.ts';
import { fromPlain } from './writes/plain-error.ts';

interface Write {
  readonly operation: Operation;
  readonly handler: Extract<Handler, { kind: 'write' }>;
  readonly input: unknown;
  readonly base: Omit<ReadContext, 'store'>;
  readonly project: Project;
  /** Keyed digest of the input: made before the transaction, which should be short. */
  readonly inputDigest: string;
}

/** Writes with an Idempotency-Key that are still running, by project, key and Idempotency-Key. */
const running = new WeakMap<Project, Set<string>>();

/** The phases of a write: prepare, the transaction with its ledger entry last, then the answer. */
export async function runWrite(call: Omit<Write, 'inputDigest'>): Promise<unknown> {
  const { base, project, operation } = call;
  const { caller, now, vault } = base;
  const write = { ...call, inputDigest: project.recorder.digest(call.input) };
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
  const { operation, handler, input, base, project, inputDigest } = write;
  const { caller, now } = base;
  const prepared = await handler.prepare?.(base, input);
  const outcome = await project.writes.run('operation', {
    name: operation.name,
    input,
    prepared,
    caller,
    now,
    inputDigest,
  });
  if ('refused' in outcome) throw fromPlain(outcome.refused);
  return answer(write, outcome.committed);
}

async function answer(write: Write, committed: unknown): Promise<unknown> {
  const { handler, input, base, project } = write;
  const present = handler.answer;
  if (!present) return committed;
  return project.store.read((store) => present({ ...base, store }, input, committed));
}
