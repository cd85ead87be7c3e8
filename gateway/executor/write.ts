import { isDeepStrictEqual } from 'node:util';
import type { LongContext, ReadContext } from '../../shared/kernel/context.ts';
import type { Answer } from '../../shared/kernel/executor.ts';
import { stillRunning } from '../../shared/lib/errors.ts';
import { isObject } from '../../shared/lib/guards.ts';
import { waitField, type Executable, type Handler } from '../../shared/kernel/operation.ts';
import { findAnswer } from '../commit/context/idempotency.ts';
import type { Project } from '../projects/project.ts';
import { fromPlain } from '../commit/thread/plain-error.ts';
import type { InputOf } from '../commit/commands.ts';
import type { CommitResult } from '../commit/commands/operation.ts';

interface Write {
  readonly operation: Executable;
  readonly handler: Extract<Handler, { kind: 'write' }>;
  readonly input: unknown;
  readonly base: Omit<ReadContext, 'store'>;
  readonly project: Project;
  /** For handlers that wait after the commit. */
  readonly long: () => LongContext;
  readonly brief: unknown;
  /** Keyed digest of the brief input, computed first to keep the transaction short. */
  readonly inputDigest: string;
  readonly askedDigest: string;
}

/** Uncommitted writes with an Idempotency-Key, by project, key and Idempotency-Key. */
const running = new WeakMap<Project, Set<string>>();

/** The phases of a write: prepare, the transaction with its ledger entry last, then the answer. */
export async function runWrite(
  call: Omit<Write, 'brief' | 'inputDigest' | 'askedDigest'>,
): Promise<Answer> {
  const { project, operation } = call;
  const brief = operation.briefOf(call.input);
  const ledgerWriter = await project.ledgerWriter();
  const inputDigest = ledgerWriter.digest(brief);
  const asked = withoutWait(operation, brief);
  const askedDigest = asked === brief ? inputDigest : ledgerWriter.digest(asked);
  const write = { brief, inputDigest, askedDigest, ...call };
  const releases: (() => void)[] = [];
  try {
    const { committed, replayed } = await commitOnce(write, releases);
    return { value: await answer(write, committed), ...(replayed && { replayed }) };
  } finally {
    for (const release of releases) release();
  }
}

/** The input without how long its caller waits. */
function withoutWait(operation: Executable, brief: unknown): unknown {
  const field = waitField(operation);
  if (field === null || !isObject(brief)) return brief;
  const { [field]: _, ...asked } = brief;
  return asked;
}

/**
 * Returns what the call commits now, or committed earlier under the same Idempotency-Key. After the commit a repeat
 * is allowed even while the first call waits, because its client may have lost the connection long ago.
 */
async function commitOnce(write: Write, releases: (() => void)[]): Promise<CommitResult> {
  const { base, project } = write;
  const { idempotencyKey, keyId } = base.caller;
  if (idempotencyKey === null) return prepareAndCommit(write, releases);
  const inFlight = running.get(project) ?? new Set<string>();
  running.set(project, inFlight);
  const name = `${keyId} ${idempotencyKey}`;
  if (inFlight.has(name)) throw stillRunning();
  inFlight.add(name);
  try {
    const kept = await storedResponse(write, idempotencyKey);
    return kept ? { ...kept, replayed: true } : await prepareAndCommit(write, releases);
  } finally {
    inFlight.delete(name);
  }
}

function storedResponse(
  { operation, base, project, inputDigest, askedDigest }: Write,
  idempotencyKey: string,
): Promise<{ committed: unknown } | null> {
  const { caller, now, vault } = base;
  const digests = { inputDigest, askedDigest };
  const keyed = { name: operation.name, caller, idempotencyKey, now, ...digests };
  return project.store.read((store) => findAnswer({ store, project: project.info, vault }, keyed));
}

async function prepareAndCommit(write: Write, releases: (() => void)[]): Promise<CommitResult> {
  const { handler, input, base, project } = write;
  if (handler.seek) {
    const long = write.long();
    let replayed = false;
    const attempt = async (): Promise<unknown> => {
      const outcome = await commitNow(write, long, !project.coordination.writesAlone);
      ({ replayed } = outcome);
      return outcome.committed;
    };
    const begun = performance.now();
    const elapsedSeconds = (): number => (performance.now() - begun) / 1000;
    const committed = await handler.seek({ attempt, elapsedSeconds, ...long }, input);
    return { committed, replayed };
  }
  const prepared = await handler.prepare?.(
    {
      blobs: project.blobs,
      directUploads: project.directUploads,
      callbacks: project.callbacks,
      read: (fn) => project.store.read(fn),
      reserveMail: async (messages) => {
        const reserved = await project.mailCeilings.reserve(project.info.id, messages, base.now);
        if (reserved && 'id' in reserved) releases.push(() => project.releaseMail(reserved.id));
        return reserved;
      },
      finally: (release) => releases.push(release),
      ...base,
    },
    input,
  );
  return commit(write, prepared, !project.coordination.writesAlone);
}

function toCall(
  { operation, brief, base, inputDigest, askedDigest }: Write,
  prepared: unknown,
  mayBeRepeat: boolean,
): InputOf<'operation'> {
  const { caller, now } = base;
  const digests = { inputDigest, askedDigest };
  return { name: operation.name, input: brief, prepared, caller, now, ...digests, mayBeRepeat };
}

/** `mayBeRepeat`: see `OperationCall`. */
async function commit(
  write: Write,
  prepared: unknown,
  mayBeRepeat: boolean,
): Promise<CommitResult> {
  const call = toCall(write, prepared, mayBeRepeat);
  const outcome = await write.project.writes.run('operation', call);
  if ('refused' in outcome) throw fromPlain(outcome.refused);
  return outcome;
}

async function answer(write: Write, committed: unknown): Promise<unknown> {
  const { handler, input, base, project } = write;
  if (handler.wait) {
    const long = write.long();
    const again = (other: unknown): Promise<unknown> => commitAgain(write, long, committed, other);
    return handler.wait({ again, ...long }, input, committed);
  }
  const present = handler.answer;
  if (!present) return committed;
  return project.store.read((store) => present({ store, ...base }, input, committed));
}

/**
 * Commits again after a wait, at the current time and under the same Idempotency-Key, so that a repeat gets the final
 * result. If two calls wait under one key, the second returns the first one's result.
 */
async function commitAgain(
  write: Write,
  long: LongContext,
  before: unknown,
  brief: unknown,
): Promise<unknown> {
  try {
    return (await commitNow({ ...write, brief }, long, false)).committed;
  } catch (error) {
    const { idempotencyKey } = write.base.caller;
    const kept = idempotencyKey === null ? null : await storedResponse(write, idempotencyKey);
    if (kept && !isDeepStrictEqual(kept.committed, before)) return kept.committed;
    throw error;
  }
}

/** Commits at the current time. If the caller has gone, nothing is committed, because its result would reach nobody. */
async function commitNow(
  write: Write,
  long: LongContext,
  mayBeRepeat: boolean,
): Promise<CommitResult> {
  await long.breathe();
  const now = (await timeNow(long)) ?? write.base.now;
  return commit({ ...write, base: { ...write.base, now } }, undefined, mayBeRepeat);
}

/** Reads the time through a wait, which rejects a key that was revoked meanwhile. */
function timeNow(long: LongContext): Promise<number | null> {
  return long.waitFor({
    counted: false,
    timeoutSeconds: 0,
    concerns: () => false,
    check: async (_store, now) => now,
  });
}
