import { isoTime } from '../../../../shared/lib/clock.ts';
import { memberNamed } from '../../../../shared/operations/access/actor.ts';
import { tellOwnersBut } from '../../../../shared/operations/access/tell.ts';
import { giveChannel } from '../../../../shared/operations/member/channel.ts';
import { actorNamed, SERVICE } from '../../../../shared/rules/actor.ts';
import { isDecider } from '../../../../shared/rules/roles.ts';
import { approvalContext } from '../../context/approval-context.ts';
import type { Command, Deletion, Job } from '../../context/job.ts';

interface Acceptance {
  readonly tokenHash: string;
  readonly accountId: string;
  /** Of the account. */
  readonly address: string;
  readonly now: number;
}

/** A person uses their invitation. False if it isn't good any more. */
export const acceptInvitation: Command<Acceptance, boolean> = {
  async run(job, { tokenHash, accountId, address, now }) {
    const { store, emit } = job;
    const member = await store.members.byToken(tokenHash, now);
    if (!member) return false;
    const { id, role } = member;
    const context = approvalContext(job, now, actorNamed(id));
    emit({ kind: 'members_changed' });
    if (await store.members.findByAccount(accountId)) {
      // They are here already, under an earlier address of their account.
      await store.members.remove(id, isoTime(now));
      await context.record('member.removed', id);
      return true;
    }
    await store.members.join(id, accountId, isoTime(now));
    if (isDecider(role)) await giveChannel(context, id, address);
    await context.record('member.joined', id, { role });
    await tellOwnersBut(context, id, await inviterChannel(store, member.invited_by));
    return true;
  },
};

/** The channel of the person who invited, in a session of their own; null if a key did. */
async function inviterChannel({ members }: Job['store'], invitedBy: string | null) {
  if (invitedBy === null || invitedBy.startsWith('key_')) return null;
  return (await memberNamed(members, invitedBy))?.channel_id ?? null;
}

/** Deletes expired invitations, because we don't keep the address of somebody who never agreed; returns how many. */
export const dropInvitations: Command<Deletion, number> = {
  async run(job, { now, asOf, limit }) {
    const { members, notices } = job.store;
    const ids = await members.expired(asOf, limit);
    for (const id of ids) {
      await members.remove(id, isoTime(now));
      await notices.endOfChannel(id);
      await approvalContext(job, now, SERVICE).record('member.removed', id);
    }
    return ids.length;
  },
};
