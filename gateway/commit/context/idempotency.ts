import type { Caller, ProjectInfo, Vault } from '../../../shared/kernel/context.ts';
import { invalid } from '../../../shared/lib/errors.ts';
import { IDEMPOTENCY_MS } from '../../../shared/lib/limits.ts';
import type { Repositories } from '../../../shared/store/repositories.ts';

/** A write with an Idempotency-Key. */
interface KeyedCall {
  readonly name: string;
  readonly caller: Caller;
  readonly idempotencyKey: string;
  readonly now: number;
  readonly inputDigest: string;
  /** See `OperationCall`: who repeats a call that was cut waits for the rest of its time only. */
  readonly askedDigest: string;
}

/** Where this file keeps the answers, and what seals them. */
interface Keeping {
  readonly store: Repositories;
  readonly project: ProjectInfo;
  readonly vault: Vault;
}

/** Returns what the first call committed, or null; VALIDATION_FAILED if the key belongs to another call. */
export async function findAnswer(
  keeping: Keeping,
  call: KeyedCall,
): Promise<{ committed: unknown } | null> {
  const { name, inputDigest, askedDigest, now } = call;
  const stored = await keeping.store.idempotency.find(call.caller.keyId, call.idempotencyKey, now);
  if (!stored) return null;
  // Earlier releases stored the digest of the whole input.
  const isSame = [askedDigest, inputDigest].includes(stored.inputDigest);
  if (stored.op !== name || !isSame) {
    throw invalid({
      path: 'Idempotency-Key',
      message: 'This key was used for another call. Use a new one for a new call.',
    });
  }
  const text = keeping.vault.open(aadOf(keeping.project, call), stored.committed);
  return { committed: JSON.parse(Buffer.from(text).toString('utf8')) };
}

/**
 * Stores what a call committed, in the call's own transaction, so that a repeat within 24 hours gets the same answer.
 */
export async function keepAnswer(
  { store, project, vault }: Keeping,
  call: KeyedCall,
  committed: unknown,
): Promise<void> {
  // Sealed: the answer of key_create holds a secret.
  const sealed = vault.seal(aadOf(project, call), JSON.stringify(committed));
  const { name, caller, idempotencyKey, now, askedDigest } = call;
  await store.idempotency.insert(
    caller.keyId,
    idempotencyKey,
    { op: name, inputDigest: askedDigest, committed: sealed },
    now + IDEMPOTENCY_MS,
  );
}

function aadOf(project: ProjectInfo, { caller, idempotencyKey }: KeyedCall): string {
  return idempotencyAad(project.id, caller.keyId, idempotencyKey);
}

/** The additional data that seals an answer. */
export function idempotencyAad(projectId: string, keyId: string, idempotencyKey: string): string {
  return `idempotency|${projectId}|${keyId} ${idempotencyKey}|committed`;
}
