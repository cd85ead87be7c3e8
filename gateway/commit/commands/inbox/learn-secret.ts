import { actorNamed } from '../../../../shared/rules/actor.ts';
import type { Command } from '../../context/job.ts';

interface LearntSecret {
  readonly sourceId: string;
  /** Sealed for the row. */
  readonly sealed: Uint8Array;
  readonly now: number;
}

/** Keeps the secret that a sender tells in its handshake, if the source has none; says whether it did. */
export const learnSecret: Command<LearntSecret, boolean> = {
  async run({ store, ledgerWriter, emit }, { sourceId, sealed, now }) {
    const source = await store.sources.findById(sourceId);
    if (!source || source.secret !== null) return false;
    const none = { previous_secret: null, previous_valid_until: null, secret_by: null };
    await store.sources.setSecrets(sourceId, { secret: sealed, ...none });
    const entry = {
      actor: actorNamed(sourceId),
      op: 'source.secret_received',
      subject: source.name,
    };
    await ledgerWriter.record(store, entry, now);
    emit({ kind: 'sources_changed' });
    return true;
  },
};
