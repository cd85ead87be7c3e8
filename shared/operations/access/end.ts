import { isoTime } from '../../lib/clock.ts';
import type { ApprovalContext } from '../../kernel/context.ts';
import { withdrawnHint } from '../../rules/requests/request-state.ts';
import type { MadeRow } from '../../store/tables/access/makers.ts';
import type { KeyRecord } from '../../store/tables/access/keys.ts';
import type { RequestRow } from '../../store/tables/people/requests.ts';
import { removeChannel } from '../channel/removal.ts';
import { cancelMail } from '../email/settle.ts';
import { dropUpload } from '../file/quota.ts';
import { losesLastAdmin } from '../key/last-admin.ts';
import type { resolveRequest } from '../request/resolve.ts';
import { disableRoute } from '../route/close.ts';
import { madeParts, type MadeParts } from './made.ts';
import { toMadeThing, type Aftermath } from './view.ts';

/** Ends one key with its waits and the file links that it made. What else it made goes on. */
export async function endKeyAlone(
  { store, emit, now }: Pick<ApprovalContext, 'store' | 'emit' | 'now'>,
  keyId: string,
): Promise<void> {
  await store.keys.revoke(keyId, isoTime(now));
  await store.fileLinks.revokeKey(keyId);
  emit({ kind: 'key_ended', keyId });
}

interface HowToEnd {
  /** The reason that people read, as the end of a sentence. */
  readonly because: string;
  /** Given, because what a decision does may end access in turn. */
  readonly resolve: typeof resolveRequest;
}

/** Ends a key and all that it left. */
export async function endKeyWithAll(
  context: ApprovalContext,
  keyId: string,
  how: HowToEnd,
): Promise<Aftermath> {
  const parts = await madeParts(context, [keyId]);
  await endKeyAlone(context, keyId);
  return endParts(context, parts, how);
}

/** Ends a key whose time is up, and all that it left; keys only where that leaves the project an admin key. */
export async function endExpiredKey(
  context: ApprovalContext,
  key: KeyRecord,
  resolve: HowToEnd['resolve'],
): Promise<void> {
  const parts = await madeParts(context, [key.id]);
  const keepsKeys = await losesLastAdmin(context, key, parts.ending);
  const ending = keepsKeys ? parts.ending.filter(({ kind }) => kind !== 'key') : parts.ending;
  await endKeyAlone(context, key.id);
  await context.record('key.expired', key.id);
  await endParts(
    context,
    { ...parts, ending },
    { because: 'the key that made it expired', resolve },
  );
}

/** Ends what its makers left, all in the current transaction, so that nothing can be made meanwhile. */
export async function endParts(
  context: ApprovalContext,
  { line, ending, staying }: MadeParts,
  how: HowToEnd,
): Promise<Aftermath> {
  const { store, now } = context;
  // Requests first: one that is withdrawn may take a channel or an invitation with it.
  const ordered = ending.toSorted((a, b) => rank(a) - rank(b));
  for (const row of ordered) await END[row.kind]?.(context, row, how);
  // These addresses were chosen by whoever had the key.
  await store.deliveries.cancelCallbacksOf(line, isoTime(now));
  return { ended: ending.map(toMadeThing), left: [...staying] };
}

function rank({ kind }: MadeRow): number {
  return kind === 'request' ? 0 : 1;
}

type End = (context: ApprovalContext, row: MadeRow, how: HowToEnd) => Promise<void>;

/** How each kind ends. Kinds that nobody ends with their maker are missing. */
const END: Readonly<Partial<Record<MadeRow['kind'], End>>> = {
  key: async (context, { id }) => {
    await endKeyAlone(context, id);
    await context.record('key.revoked', id);
  },
  route: async (context, { id }, { because }) => {
    const route = await context.store.routes.find(id);
    if (!route) return;
    await disableRoute(context, route, { reason: `Disabled: ${because}.`, eventId: null });
    await context.record('route.disabled', id);
  },
  invitation: async (context, { id }, how) => {
    const { store, now, emit, record } = context;
    for (const request of await store.requests.pending(now)) {
      if (request.kind === 'member' && request.subject === id)
        await withdraw(context, request, how);
    }
    // Withdrawing may have forgotten somebody whom an owner hadn't let in yet.
    if (!(await store.members.find(id))) return;
    await store.notices.endOfChannel(id);
    await store.members.remove(id, isoTime(now));
    await record('member.removed', id);
    emit({ kind: 'members_changed' });
  },
  channel: async (context, { id }) => removeChannel(context, id),
  request: async (context, { id }, how) => {
    const request = await context.store.requests.find(id);
    // Its callback gets nothing: whoever had the key chose the address.
    if (request) await withdraw(context, { ...request, callback_url: null }, how);
  },
  email: async (context, { id }) => {
    const batch = await context.store.emails.findBatch(id);
    if (batch) await cancelMail(context, batch);
  },
  file_link: async ({ store, emit }, { id }) => {
    await store.fileLinks.revoke(id);
    emit({ kind: 'disk_changed' });
  },
  upload: async (context, { id }) => {
    const upload = await context.store.uploads.find(id);
    if (upload) await dropUpload(context, upload);
  },
  browser: async ({ store, record }, { id }) => {
    await store.browsers.removeById(id);
    await record('browser.removed', id);
  },
};

function withdraw(context: ApprovalContext, request: RequestRow, { because, resolve }: HowToEnd) {
  return resolve(context, request, {
    status: 'expired',
    decision: null,
    comment: null,
    decidedBy: null,
    hint: withdrawnHint(`${because}.`),
    isWithdrawn: true,
  });
}
