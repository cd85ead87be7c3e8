import type { Caller, WriteContext } from '../../../shared/kernel/context.ts';
import { ServiceError, type ErrorCode } from '../../../shared/lib/errors.ts';
import type { Handler, Operation } from '../../../shared/kernel/operation.ts';
import { callerActor, whoColumns } from '../../../shared/rules/actor.ts';
import { operations } from '../../../shared/operations/index.ts';
import { findAnswer, keepAnswer } from '../context/idempotency.ts';
import { type Effect, type Job, type Command } from '../context/job.ts';
import { approvalContext } from '../context/approval-context.ts';
import { refuseEnded, refusePreviousSecret } from './still-allowed.ts';
import { toPlain, type PlainError } from '../thread/plain-error.ts';

/** A validated and prepared call of a write operation. */
export interface OperationCall {
  readonly name: string;
  readonly input: unknown;
  readonly prepared: unknown;
  readonly caller: Caller;
  readonly now: number;
  /** Keyed digest of the input. The caller computes it first, to keep the transaction short. */
  readonly inputDigest: string;
  /** The same of the input without how long its caller waits: what makes a call a repeat of another. */
  readonly askedDigest: string;
  /**
   * Another gateway may have committed the same call since the last lookup; that answer then counts for this call
   * too.
   */
  readonly mayBeRepeat: boolean;
}

/** What the call committed, or `replayed` what an earlier one did. */
export interface CommitResult {
  readonly committed: unknown;
  readonly replayed: boolean;
}

export type OperationOutcome = CommitResult | { readonly refused: PlainError };

/** Runs the `commit` of an operation and appends its ledger entry last. A refusal gets its own entry. */
export const operation: Command<OperationCall, OperationOutcome> = {
  run: commit,
  onError: recordRefusal,
};

/** Refusals that don't depend on the project's state get no ledger entry. */
const UNRECORDED: ReadonlySet<ErrorCode> = new Set(['VALIDATION_FAILED', 'SCOPE_MISSING']);

/** The effect that a write emits to followers of the project, by the scope of its operation. */
const CHANGED_BY_SCOPE: ReadonlyMap<string, Effect> = new Map([
  ['disk', { kind: 'disk_changed' }],
  ['inbox:write', { kind: 'inbox_changed' }],
]);

type WriteOperation = Operation & { readonly handler: Extract<Handler, { kind: 'write' }> };

const writing = new Map(
  operations.filter(isWrite).map((one): [string, WriteOperation] => [one.name, one]),
);

function isWrite(one: Operation): one is WriteOperation {
  return one.handler.kind === 'write';
}

async function commit(job: Job, call: OperationCall): Promise<OperationOutcome> {
  const { store, ledgerWriter } = job;
  const { caller, input, now, prepared } = call;
  const { idempotencyKey } = caller;
  const shown = await refuseEnded(job, caller, now);
  if (idempotencyKey !== null && call.mayBeRepeat) {
    const kept = await findAnswer(job, { ...call, idempotencyKey });
    if (kept) return { ...kept, replayed: true };
  }
  const called = find(call.name);
  refusePreviousSecret(called, shown);
  const committed = await called.handler.commit(writeContext(job, call), input, prepared);
  if (committed === null) return { committed, replayed: false };
  if (idempotencyKey !== null) await keepAnswer(job, { ...call, idempotencyKey }, committed);
  const effect = CHANGED_BY_SCOPE.get(called.scope);
  if (effect) job.emit(effect);
  await store.ledger.append(
    {
      subject: called.subjectOf(input, committed),
      outcome: 'ok',
      code: null,
      result_digest: ledgerWriter.digest(committed),
      ...noteOf(call, called.agentOf(committed)),
    },
    now,
  );
  return { committed, replayed: false };
}

function find(name: string): WriteOperation {
  const found = writing.get(name);
  if (!found) throw new Error(`No operation ${name} writes.`);
  return found;
}

function writeContext(job: Job, { caller, now }: OperationCall): WriteContext {
  return {
    caller,
    server: job.server,
    // The spread comes last, here and in every object made per call: on Node 20 a field after a spread takes ten
    // times as long.
    ...approvalContext(job, now, callerActor(caller)),
  };
}

async function recordRefusal(
  { store }: Job,
  call: OperationCall,
  error: unknown,
): Promise<OperationOutcome> {
  if (!(error instanceof ServiceError) || UNRECORDED.has(error.code)) throw error;
  await store.ledger.append(
    {
      subject: find(call.name).subjectOf(call.input, {}) ?? null,
      outcome: 'error',
      code: error.code,
      result_digest: null,
      ...noteOf(call),
    },
    call.now,
  );
  return { refused: toPlain(error) };
}

function noteOf(
  { name, caller, inputDigest }: OperationCall,
  announced: ReturnType<Operation['agentOf']> = null,
) {
  const actor = { ...callerActor(caller), ...announced };
  return { op: name, input_digest: inputDigest, ...whoColumns(actor) };
}
