import type { Command, Portion } from '../../context/job.ts';

/** Counts what happened since the last time, for the overview; false if there is more to count. */
export const countActivity: Command<Portion, boolean> = {
  async run({ store }, { now, limit }) {
    const counted = await store.activity.count(await store.activity.position(now), now, limit);
    await store.activity.add(counted);
    return counted.isAll;
  },
};
