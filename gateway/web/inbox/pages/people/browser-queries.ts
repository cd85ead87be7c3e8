import * as z from 'zod';
import type { PushAnswer } from '../../../../lib/push/push-answer.ts';
import { readSubscription } from '../../../../lib/push/subscription.ts';
import { vapidKeyAad, vapidPublicKey, type VapidKey } from '../../../../lib/push/vapid.ts';
import type { BrowserRow } from '../../../../../shared/store/tables/access/browsers.ts';
import type { PageContext } from '../../page-context.ts';
import { pageRead } from '../../page-read.ts';

export type Browser = Pick<BrowserRow, 'id' | 'name' | 'created_at' | 'last_sent_at' | 'gone_at'>;

/** The browsers of a person; none for one whom nobody asks. */
export const browsersOf = pageRead(
  'approvals',
  { channelId: z.string().nullable() },
  async ({ store }, { channelId }) => (channelId === null ? [] : store.browsers.of(channelId)),
);

/** The public key that a browser subscribes with; null before anybody prepared it. */
export const pushKeyOf = pageRead('approvals', {}, async ({ store, project, vault }) => {
  const sealed = await store.meta.get('push_key');
  if (!(sealed instanceof Uint8Array)) return null;
  const key = Buffer.from(vault.open(vapidKeyAad(project.id), sealed)).toString('utf8');
  return vapidPublicKey(JSON.parse(key) as VapidKey);
});

export async function preparePush({ access }: PageContext): Promise<void> {
  await access.project.writes.run('preparePush', {});
}

/** Adds the browser that sent this; false if it sent no subscription. CALLBACK_URL_REJECTED, VALIDATION_FAILED. */
export async function addBrowser(
  { access, inbox, now }: PageContext,
  { name, subscription: sent }: { readonly name: string; readonly subscription: string },
): Promise<boolean> {
  const { actor, channelId, project } = access;
  const subscription = readSubscription(sent);
  if (channelId === null || subscription === null) return false;
  await inbox.push.check(subscription);
  return project.writes.run('addBrowser', {
    channelId,
    actor,
    name,
    subscription,
    now,
  });
}

export async function removeBrowser({ access, now }: PageContext, id: string): Promise<void> {
  const { channelId, project } = access;
  if (channelId === null) return;
  await project.writes.run('removeBrowser', { channelId, browserId: id, now });
}

/** What became of a test: the push service's answer, or how long to wait before the next test. */
export type PushTest =
  | { readonly kind: 'limited'; readonly waitMs: number }
  | { readonly kind: 'missing' }
  | PushAnswer;

/** Sends a test to one of the visitor's browsers. */
export async function testBrowser(
  { access, inbox, now }: PageContext,
  id: string,
): Promise<PushTest> {
  const { channelId, project } = access;
  if (channelId === null) return { kind: 'missing' };
  const waitMs = await project.writes.run('countPushTest', { channelId, now });
  if (waitMs > 0) return { kind: 'limited', waitMs };
  return (await inbox.push.test(project, channelId, id)) ?? { kind: 'missing' };
}
