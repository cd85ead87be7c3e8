import type { Command } from './job.ts';

interface Wanted {
  /** What a new history is called. */
  readonly fresh: string;
  /** A history that has ended; null while nothing is known against the one there is. */
  readonly ended: string | null;
}

/** Answers what the history of the database is called, for its replicas. Of several gateways that want a new one, the first one names it. */
export const replicaHistory: Command<Wanted, string> = {
  async run({ store: { meta } }, { fresh, ended }) {
    const known = await meta.get(HISTORY_NAME);
    if (typeof known === 'string' && known !== ended) return known;
    await meta.set(HISTORY_NAME, fresh);
    return fresh;
  },
};

/** Where the database keeps it. Whatever puts other content under the same address has to take it away, or write another. */
export const HISTORY_NAME = 'replica_epoch';
