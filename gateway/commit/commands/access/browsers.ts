import { isoTime } from '../../../../shared/lib/clock.ts';
import { isStillHere } from '../../../../shared/operations/access/actor.ts';
import { spendPushTest } from '../../../lib/push/test-budget.ts';
import { generateVapidKey, vapidKeyAad } from '../../../lib/push/vapid.ts';
import { browserAad, endpointHash, type PushSubscription } from '../../../lib/push/subscription.ts';
import { actorNamed } from '../../../../shared/rules/actor.ts';
import { approvalContext } from '../../context/approval-context.ts';
import type { Command } from '../../context/job.ts';

/** More than anybody uses. The oldest is dropped. */
const BROWSERS_MAX = 10;
const PUSH_KEY = 'push_key';

/** Makes the key that signs pushes, unless there is one. */
export const preparePush: Command<Record<string, never>, null> = {
  async run({ store, project, vault }) {
    if ((await store.meta.get(PUSH_KEY)) !== undefined) return null;
    const sealed = vault.seal(vapidKeyAad(project.id), JSON.stringify(generateVapidKey()));
    await store.meta.set(PUSH_KEY, sealed);
    return null;
  },
};

interface BrowserAddition {
  readonly channelId: string;
  /** Whose session it is: a key or a channel. */
  readonly actor: string;
  readonly name: string;
  readonly subscription: PushSubscription;
  readonly now: number;
}

/** Adds a browser to a person's channel. False if the channel is no longer active. */
export const addBrowser: Command<BrowserAddition, boolean> = {
  async run(job, { channelId, actor, name, subscription, now }) {
    const { store, project, vault } = job;
    if ((await store.channels.find(channelId))?.status !== 'active') return false;
    if (!(await isStillHere(store, actor, now))) return false;
    const context = approvalContext(job, now, actorNamed(channelId, 'web'));
    const hash = endpointHash(subscription);
    const others = (await store.browsers.of(channelId)).filter((one) => one.endpoint_hash !== hash);
    const tooMany = others.slice(0, Math.max(0, others.length - BROWSERS_MAX + 1));
    for (const { id } of tooMany) await store.browsers.remove(channelId, id);
    const id = context.newId('brw');
    await store.browsers.insert({
      id,
      channel_id: channelId,
      name,
      subscription: vault.seal(browserAad(project.id, id), JSON.stringify(subscription)),
      endpoint_hash: hash,
      created_at: isoTime(now),
      last_sent_at: null,
      gone_at: null,
      created_by: actor,
    });
    await context.record('browser.added', id, { channel_id: channelId });
    return true;
  },
};

interface BrowserRemoval {
  readonly channelId: string;
  readonly browserId: string;
  readonly now: number;
}

/** Removes a browser of a person; false if they have no such browser. */
export const removeBrowser: Command<BrowserRemoval, boolean> = {
  async run(job, { channelId, browserId, now }) {
    if (!(await job.store.browsers.remove(channelId, browserId))) return false;
    const context = approvalContext(job, now, actorNamed(channelId, 'web'));
    await context.record('browser.removed', browserId, { channel_id: channelId });
    return true;
  },
};

interface PushTest {
  readonly channelId: string;
  readonly now: number;
}

/** The row of a channel's test budget, next to those of its keys. */
const TESTS = 'push_test';

/** Counts a test that a person sends to one of their browsers; 0, or how long they must wait for the next one. */
export const countPushTest: Command<PushTest, number> = {
  async run({ store }, { channelId, now }) {
    const of = { channelId, keyId: TESTS };
    const budget = await store.noticeBudgets.find(of);
    const { fullAt, waitMs } = spendPushTest(budget.fullAt, now);
    if (waitMs === 0) await store.noticeBudgets.set(of, { ...budget, fullAt });
    return waitMs;
  },
};

interface PushResult {
  readonly browserId: string;
  readonly result: 'sent' | 'gone';
  readonly now: number;
}

/** Records that browsers got a push, or never will again. */
export const recordPushes: Command<readonly PushResult[], null> = {
  async run({ store }, pushed) {
    for (const { browserId, result, now } of pushed) {
      const column = result === 'sent' ? 'last_sent_at' : 'gone_at';
      await store.browsers.record(browserId, column, isoTime(now));
    }
    return null;
  },
};
