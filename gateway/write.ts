import type { EventReady, ReadContext, WriteContext } from '../shared/context.ts';
import { ServiceError, type ErrorCode } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import type { Handler, Operation } from '../shared/operation.ts';
import type { WriteTx } from '../shared/store/driver.ts';
import type { Repositories } from '../shared/store/project-store.ts';
import { findAnswer, keepAnswer, type KeyedCall } from './kept-answers.ts';
import type { Project } from './project.ts';

interface Write {
  readonly operation: Operation;
  readonly handler: Extract<Handler, { kind: 'write' }>;
  readonly input: unknown;
  readonly base: Omit<ReadContext, 'store'>;
  readonly project: Project;
  /** Keyed digest of the input: made before the transaction, which should be short. */
  readonly inputDigest: string;
}

type Outcome = { readonly committed: unknown } | { readonly refused: ServiceError };

/** Refusals that say nothing about the state of the project leave no entry in the ledger. */
const UNRECORDED: ReadonlySet<ErrorCode> = new Set(['VALIDATION_FAILED', 'SCOPE_MISSING']);

/** Writes with an Idempotency-Key that are still running, by project, key and Idempotency-Key. */
const running = new WeakMap<Project, Set<string>>();

/** The phases of a write: prepare, the transaction with its ledger entry last, then the answer. */
export async function runWrite(call: Omit<Write, 'inputDigest'>): Promise<unknown> {
  const { base } = call;
  const write = { ...call, inputDigest: call.project.digest(call.input) };
  const { idempotencyKey } = base.caller;
  if (idempotencyKey === null) return runOnce(write);
  const inFlight = running.get(write.project) ?? new Set<string>();
  running.set(write.project, inFlight);
  const name = `${base.caller.keyId} ${idempotencyKey}`;
  if (inFlight.has(name)) throw new ServiceError('IDEMPOTENCY_IN_PROGRESS');
  inFlight.add(name);
  try {
    const stored = await findAnswer(storedCall(write, idempotencyKey));
    if (!stored) return await runOnce(write);
    return await answer(write, stored.committed);
  } finally {
    inFlight.delete(name);
  }
}

async function runOnce(write: Write): Promise<unknown> {
  const { handler, input, project } = write;
  const prepared = await handler.prepare?.(write.base, input);
  const result = await project.store.write<Outcome>(
    async (store, tx) => ({ committed: await commit(write, prepared, store, tx) }),
    { onError: (store, error) => recordRefusal(write, store, error) },
  );
  if ('refused' in result) throw result.refused;
  return answer(write, result.committed);
}

async function commit(
  write: Write,
  prepared: unknown,
  store: Repositories,
  tx: WriteTx,
): Promise<unknown> {
  const { operation, handler, input, base } = write;
  const committed = await handler.commit(writeContext(write, store, tx), input, prepared);
  if (base.caller.idempotencyKey !== null) {
    await keepAnswer(storedCall(write, base.caller.idempotencyKey), committed, store);
  }
  await store.ledger.append(
    {
      ...noteOf(write),
      subject: operation.subjectOf(input, committed),
      outcome: 'ok',
      code: null,
      result_digest: write.project.digest(committed),
    },
    base.now,
  );
  return committed;
}

function writeContext(write: Write, store: Repositories, tx: WriteTx): WriteContext {
  const { base, project } = write;
  return {
    ...base,
    store,
    newId: (prefix) => newId(prefix, base.now),
    recordService: (op, subject) => project.record(store, { op, subject }, base.now),
    dueAt: (ms) => tx.afterCommit(() => project.atLatest(ms)),
    keyEnded: (keyId) => tx.afterCommit(() => project.waits.endOf(keyId)),
    sourcesChanged: () => tx.afterCommit(() => project.sourceCache.clear()),
    eventReady: (change: EventReady) => project.announce(tx, change),
  };
}

/** Runs after the job was undone, in its transaction: the refusal itself is an entry. */
async function recordRefusal(write: Write, store: Repositories, error: unknown): Promise<Outcome> {
  if (!(error instanceof ServiceError) || UNRECORDED.has(error.code)) throw error;
  await store.ledger.append(
    {
      ...noteOf(write),
      subject: write.operation.subjectOf(write.input, {}) ?? null,
      outcome: 'error',
      code: error.code,
      result_digest: null,
    },
    write.base.now,
  );
  return { refused: error };
}

function noteOf({ operation, base, inputDigest }: Write) {
  const { caller } = base;
  return {
    op: operation.name,
    agent: caller.agent.label,
    platform: caller.agent.platform,
    key_id: caller.keyId,
    request_id: caller.requestId,
    input_digest: inputDigest,
  };
}

async function answer(write: Write, committed: unknown): Promise<unknown> {
  const { handler, input, base, project } = write;
  const present = handler.answer;
  if (!present) return committed;
  return project.store.read((store) => present({ ...base, store }, input, committed));
}

function storedCall(write: Write, idempotencyKey: string): KeyedCall {
  const { base, project, operation, inputDigest } = write;
  const { caller, vault, now } = base;
  return {
    project,
    vault,
    now,
    idempotencyKey,
    keyId: caller.keyId,
    op: operation.name,
    inputDigest,
  };
}
