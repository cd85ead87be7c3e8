import { isoTime } from '../../../../shared/lib/clock.ts';
import { FULL_SCOPES } from '../../../../shared/lib/scopes.ts';
import { endExpiredKey } from '../../../../shared/operations/access/end.ts';
import { resolveRequest } from '../../../../shared/operations/request/resolve.ts';
import { OPERATOR, SERVICE } from '../../../../shared/rules/actor.ts';
import { approvalContext } from '../../context/approval-context.ts';
import type { Command, Deletion } from '../../context/job.ts';

interface NewAdminKey {
  readonly id: string;
  readonly hash: string;
  readonly last4: string;
  readonly now: number;
}

/** Adds a key with every scope, for the owner of the machine. */
export const adminKey: Command<NewAdminKey, null> = {
  async run({ store, ledgerWriter }, { id, hash, last4, now }) {
    await store.keys.insert({
      id,
      name: 'admin',
      hash,
      last4,
      scopes: [...FULL_SCOPES],
      disk_prefixes: null,
      created_at: isoTime(now),
      created_by: null,
      expires_at: null,
    });
    await ledgerWriter.record(store, { actor: OPERATOR, op: 'key.created', subject: id }, now);
    return null;
  },
};

/** Ends keys whose time is up, with what they made; returns how many. */
export const endKeys: Command<Deletion, number> = {
  async run(job, { now, asOf, limit }) {
    const keys = await job.store.keys.over(isoTime(asOf), limit);
    const context = approvalContext(job, now, SERVICE);
    for (const key of keys) await endExpiredKey(context, key, resolveRequest);
    return keys.length;
  },
};

interface Use {
  /** When each key was last used, by its id. */
  readonly keys: ReadonlyMap<string, number>;
  /** How many deliveries each source refused, by its id. */
  readonly rejected: ReadonlyMap<string, number>;
  /** How many deliveries each source dropped as repeats without an id. */
  readonly repeated: ReadonlyMap<string, number>;
  readonly now: number;
}

/** Saves key uses, and deliveries that made no event, which the gateway counted in memory, without a ledger entry. */
export const noteUse: Command<Use, null> = {
  async run({ store }, { keys, rejected, repeated, now }) {
    for (const [id, usedAt] of keys) await store.keys.touch(id, isoTime(usedAt));
    for (const id of new Set([...rejected.keys(), ...repeated.keys()])) {
      const counts = { rejected: rejected.get(id) ?? 0, repeated: repeated.get(id) ?? 0 };
      await store.sources.countUnstored(id, now, counts);
    }
    return null;
  },
};
