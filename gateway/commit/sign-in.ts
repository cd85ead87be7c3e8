import { isoTime } from '../../shared/lib/clock.ts';
import { ACTIVE_KEYS_MAX } from '../../shared/lib/limits.ts';
import type { Scope } from '../../shared/lib/scopes.ts';
import { setOwner } from './notifications.ts';
import type { Job, Command } from './job.ts';

/** A key for whoever signed in; the secret itself stays outside. */
interface SignInKey {
  readonly id: string;
  readonly name: string;
  readonly hash: string;
  readonly last4: string;
  readonly scopes: readonly Scope[];
  readonly accountId: string;
}

interface Founding {
  /** A fresh id for the channel of the owner. */
  readonly channelId: string;
  /** Where the owner signed in from. */
  readonly address: string;
  /** Null when nobody is there any more to be given one. */
  readonly key: SignInKey | null;
  readonly now: number;
}

/**
 * What a project begins with: its owner, and a key. Where it has begun, because a reservation was finished by somebody else,
 * the key alone is added.
 */
export const foundProject: Command<Founding, null> = {
  async run(job, { channelId, address, key, now }) {
    const { store, project, ledgerWriter } = job;
    if (await store.channels.owner()) {
      if (key) await addKey(job, key, now);
      return null;
    }
    await ledgerWriter.record(store, { op: 'project.created', subject: project.id }, now);
    await setOwner.run(job, { channelId, address, now });
    if (key) await addKey(job, key, now);
    return null;
  },
};

/** A further key for the owner of a project; `full` where it has as many as it may. */
export const signInKey: Command<SignInKey & { readonly now: number }, 'made' | 'full'> = {
  async run(job, { now, ...key }) {
    const { store } = job;
    if ((await store.keys.active(isoTime(now))).length < ACTIVE_KEYS_MAX) {
      await addKey(job, key, now);
      return 'made';
    }
    await store.ledger.append(
      { ...KEY_REFUSED, input_digest: job.ledgerWriter.digest(digested(key)) },
      now,
    );
    return 'full';
  },
};

const KEY_REFUSED = {
  op: 'key.created',
  agent: null,
  platform: null,
  key_id: null,
  subject: null,
  request_id: null,
  outcome: 'error',
  code: 'KEY_LIMIT_REACHED',
  result_digest: null,
} as const;

async function addKey(job: Job, key: SignInKey, now: number): Promise<void> {
  const { store, ledgerWriter } = job;
  const { id, name, hash, last4, scopes, accountId } = key;
  await store.keys.insert({
    id,
    name,
    hash,
    last4,
    scopes: [...scopes],
    created_at: isoTime(now),
    created_by: accountId,
    last_used_at: null,
    expires_at: null,
    revoked_at: null,
  });
  const inputDigest = ledgerWriter.digest(digested(key));
  await ledgerWriter.record(store, { op: 'key.created', subject: id, inputDigest }, now);
}

function digested({ name, scopes, accountId }: SignInKey) {
  return { name, scopes: [...scopes], account: accountId };
}
