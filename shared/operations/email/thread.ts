import type { MailThreadRepository } from '../../store/tables/mail/mail-threads.ts';
import { messageIdOf } from './project-address.ts';

const LOOKED_UP_MAX = 20;

interface Threads {
  readonly store: { readonly mailThreads: MailThreadRepository };
  /** A new id. */
  readonly newThread: () => string;
}

/**
 * The Message-IDs that tell a mail's thread, the nearest first: In-Reply-To, then References from the last one. Of a long
 * list these are the last ones and the first, which mail programs keep when they shorten it.
 */
export function threadIds(mail: {
  readonly in_reply_to: string | null;
  readonly references: readonly string[];
}): string[] {
  const { in_reply_to: answered, references } = mail;
  const ids = [...new Set([...(answered === null ? [] : [answered]), ...references.toReversed()])];
  const last = ids.at(-1);
  if (last === undefined || ids.length <= LOOKED_UP_MAX) return ids;
  return [...ids.slice(0, LOOKED_UP_MAX - 1), last];
}

/**
 * The thread of a mail that came in: that of the first mail of this project which its ids name, else of our message that
 * it answers by its address, else a new one.
 */
export async function threadOfReceived(
  threads: Threads,
  ids: readonly string[],
  replyTo: string | null,
): Promise<string> {
  for (const id of ids) {
    const known = (await ofSent(threads, messageIdOf(id))) ?? (await ofReceived(threads, id));
    if (known !== null) return known;
  }
  return (await ofSent(threads, replyTo)) ?? threads.newThread();
}

/** The thread of a mail that we send: that of the event it answers, else a new one. */
export async function threadOfSent(threads: Threads, answered: string | null): Promise<string> {
  const { mailThreads } = threads.store;
  const event = answered === null ? undefined : await mailThreads.ofEvent(answered);
  if (!event) return threads.newThread();
  return event.thread_id ?? begin(threads, (thread) => mailThreads.setOfEvent(event.id, thread));
}

async function ofReceived(threads: Threads, id: string): Promise<string | null> {
  const { mailThreads } = threads.store;
  const event = await mailThreads.received(id);
  if (!event) return null;
  return event.thread_id ?? begin(threads, (thread) => mailThreads.setOfEvent(event.id, thread));
}

async function ofSent(threads: Threads, messageId: string | null): Promise<string | null> {
  if (messageId === null) return null;
  const { mailThreads } = threads.store;
  const batch = await mailThreads.ofMessage(messageId);
  if (!batch) return null;
  return batch.thread_id ?? begin(threads, (thread) => mailThreads.setOfBatch(batch.id, thread));
}

/** Begins a thread with a mail of an earlier release, which has none. */
async function begin({ newThread }: Threads, set: (thread: string) => Promise<void>) {
  const thread = newThread();
  await set(thread);
  return thread;
}
