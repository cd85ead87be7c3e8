import type { Vault } from '../shared/context.ts';
import { invalid } from '../shared/errors.ts';
import { IDEMPOTENCY_MS } from '../shared/limits.ts';
import type { Repositories } from '../shared/store/project-store.ts';
import type { Project } from './project.ts';

/** A write that carried an Idempotency-Key. */
export interface KeyedCall {
  readonly project: Project;
  readonly vault: Vault;
  readonly now: number;
  readonly keyId: string;
  readonly idempotencyKey: string;
  readonly op: string;
  readonly inputDigest: string;
}

/** What the first call committed, or null; VALIDATION_FAILED when that was another call. */
export async function findAnswer(call: KeyedCall): Promise<{ committed: unknown } | null> {
  const stored = await call.project.store.read((store) =>
    store.idempotency.find(call.keyId, call.idempotencyKey, call.now),
  );
  if (!stored) return null;
  if (stored.op !== call.op || stored.inputDigest !== call.inputDigest) {
    throw invalid({
      path: 'Idempotency-Key',
      message: 'This key was used for another call. Use a new one for a new call.',
    });
  }
  const text = Buffer.from(call.vault.open(placeOf(call), stored.committed)).toString('utf8');
  return { committed: JSON.parse(text) };
}

/** Keeps what a call committed, in its transaction, for repeats within 24 hours. */
export async function keepAnswer(
  call: KeyedCall,
  committed: unknown,
  store: Repositories,
): Promise<void> {
  await store.idempotency.insert(
    call.keyId,
    call.idempotencyKey,
    {
      op: call.op,
      inputDigest: call.inputDigest,
      // Sealed: the answer of key_create holds a secret.
      committed: call.vault.seal(placeOf(call), JSON.stringify(committed)),
    },
    call.now + IDEMPOTENCY_MS,
  );
}

function placeOf({ project, keyId, idempotencyKey }: KeyedCall): string {
  return `idempotency|${project.info.id}|${keyId} ${idempotencyKey}|committed`;
}
