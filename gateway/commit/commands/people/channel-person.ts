import { actorNamed } from '../../../../shared/rules/actor.ts';
import { approvalContext } from '../../context/approval-context.ts';
import type { Command } from '../../context/job.ts';
import { recount } from './vote.ts';

interface Statement {
  readonly channelId: string;
  /** Another channel of the same person, or this one for somebody with no other; null: nobody knows. */
  readonly personOf: string | null;
  /** The channel of the owner who says so. */
  readonly by: string;
  readonly now: number;
}

/** An owner says whose a channel is. False if it, or the one it's said to be like, can't be asked. */
export const sayWhose: Command<Statement, boolean> = {
  async run(job, { channelId, personOf, by, now }) {
    const { channels } = job.store;
    for (const id of [channelId, personOf ?? channelId]) {
      if ((await channels.find(id))?.status !== 'active') return false;
    }
    await channels.setPerson(channelId, personOf);
    const context = approvalContext(job, now, actorNamed(by, 'web'));
    await context.record('channel.person_set', channelId, { person_of: personOf });
    await recount(context);
    return true;
  },
};
