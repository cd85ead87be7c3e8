import { isoTime } from '../../../../shared/lib/clock.ts';
import { ACTIVE_KEYS_MAX } from '../../../../shared/lib/limits.ts';
import { newId } from '../../../../shared/lib/ids.ts';
import type { Scope } from '../../../../shared/lib/scopes.ts';
import { addressHashText } from '../../../../shared/operations/channel/view.ts';
import { actorNamed, whoColumns, type Actor } from '../../../../shared/rules/actor.ts';
import { comparableAddress } from '../../../../shared/rules/mail/mail-address.ts';
import { withinRole } from '../../../../shared/rules/roles.ts';
import type { MemberRow } from '../../../../shared/store/tables/access/members.ts';
import { tellOwnersBut } from '../../../../shared/operations/access/tell.ts';
import { approvalContext } from '../../context/approval-context.ts';
import { setOwner } from '../people/owner.ts';
import type { Job, Command } from '../../context/job.ts';

/** A key for a person who signed in. Only its hash comes here, never the secret. */
interface SignInKey {
  readonly id: string;
  readonly name: string;
  readonly hash: string;
  readonly last4: string;
  readonly scopes: readonly Scope[];
  readonly accountId: string;
}

interface NewProject {
  /** A fresh id for the owner's channel. */
  readonly channelId: string;
  /** The owner's email address, and their account. */
  readonly address: string;
  readonly accountId: string;
  /** Null if no caller waits for a key any more. */
  readonly key: SignInKey | null;
  readonly now: number;
}

/**
 * Sets up a project's owner and first key. If another call has already finished the reservation, it only adds the
 * key.
 */
export const foundProject: Command<NewProject, null> = {
  async run(job, { channelId, address, accountId, key, now }) {
    const { store, project, ledgerWriter } = job;
    const isNew = !(await store.channels.owner());
    const known = isNew ? undefined : await store.members.findByAccount(accountId);
    const memberId = isNew ? newId('mbr', now) : (known?.id ?? accountId);
    const actor = actorNamed(memberId);
    if (isNew) {
      const action = { actor, op: 'project.created', subject: project.id };
      await ledgerWriter.record(store, action, now);
      await setOwner.run(job, { channelId, address, founder: { memberId, accountId }, now });
    }
    if (key) await addKey(job, key, { actor, now });
    return null;
  },
};

interface MemberKey extends SignInKey {
  /** Of the account. */
  readonly address: string;
  readonly now: number;
}

/** `full`: the project has the maximum number of keys. `nothing_left`: the role may have none of the scopes. */
type MemberKeyOutcome =
  | { readonly outcome: 'made'; readonly scopes: readonly Scope[] }
  | { readonly outcome: 'full' | 'no_member' | 'nothing_left' };

/** Adds a key for a member who signed in, with no more scopes than their role may have. */
export const signInKey: Command<MemberKey, MemberKeyOutcome> = {
  async run(job, { now, address, ...wanted }) {
    const { store } = job;
    const member = await memberSigningIn(job, wanted.accountId, address);
    if (!member) return { outcome: 'no_member' };
    const key = { ...wanted, scopes: withinRole(wanted.scopes, member.role) };
    if (key.scopes.length === 0) return { outcome: 'nothing_left' };
    const actor = actorNamed(member.id);
    if ((await store.keys.active(isoTime(now))).length < ACTIVE_KEYS_MAX) {
      await addKey(job, key, { actor, now });
      if (key.scopes.includes('admin')) {
        await tellOwnersBut(approvalContext(job, now, actor), key.id, member.channel_id);
      }
      return { outcome: 'made', scopes: key.scopes };
    }
    const inputDigest = job.ledgerWriter.digest(digested(key));
    const refused = { ...KEY_REFUSED, input_digest: inputDigest, ...whoColumns(actor) };
    await store.ledger.append(refused, now);
    return { outcome: 'full' };
  },
};

/** Who signs in, by their account; by their address where another gateway knew them under another account. */
async function memberSigningIn(
  { store, vault, project }: Job,
  accountId: string,
  address: string,
): Promise<MemberRow | null> {
  const known = await store.members.findByAccount(accountId);
  if (known) return known.status === 'active' ? known : null;
  const hash = vault.sign(addressHashText(project.id, comparableAddress(address)));
  const found = await store.members.findByAddress(hash);
  if (found?.status !== 'active') return null;
  // The earlier account made keys too, which must end with the member.
  if (found.account_id) await store.makers.reassign(found.account_id, found.id);
  await store.members.setAccount(found.id, accountId);
  return found;
}

const KEY_REFUSED = {
  op: 'key.created',
  subject: null,
  outcome: 'error',
  code: 'KEY_LIMIT_REACHED',
  result_digest: null,
} as const;

async function addKey(
  job: Job,
  key: SignInKey,
  { actor, now }: { readonly actor: Actor; readonly now: number },
): Promise<void> {
  const { store, ledgerWriter } = job;
  const { id, name, hash, last4, scopes, accountId } = key;
  await store.keys.insert({
    id,
    name,
    hash,
    last4,
    scopes: [...scopes],
    disk_prefixes: null,
    created_at: isoTime(now),
    created_by: accountId,
    expires_at: null,
  });
  const inputDigest = ledgerWriter.digest(digested(key));
  await ledgerWriter.record(store, { actor, op: 'key.created', subject: id, inputDigest }, now);
}

function digested({ name, scopes, accountId }: SignInKey) {
  return { name, scopes: [...scopes], account: accountId };
}
