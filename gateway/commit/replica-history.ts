import type { Command } from './job.ts';

interface Wanted {
  /** The name for a new history. */
  readonly fresh: string;
  /** The name of a history that has ended; null if the current one is still good. */
  readonly ended: string | null;
}

/**
 * Returns the name of the database's history, for replicas. If several gateways want a new one, the first one names
 * it.
 */
export const replicaHistory: Command<Wanted, string> = {
  async run({ store: { meta } }, { fresh, ended }) {
    const known = await meta.get(HISTORY_NAME);
    if (typeof known === 'string' && known !== ended) return known;
    await meta.set(HISTORY_NAME, fresh);
    return fresh;
  },
};

/** The meta row that holds the name. Code that puts other content at the same address must delete or change it. */
export const HISTORY_NAME = 'replica_epoch';
