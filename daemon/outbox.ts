import { closeSync, constants, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { isoTime } from '../shared/lib/clock.ts';
import { errorCode } from '../shared/lib/guards.ts';
import type { Home } from './home.ts';
import { readMail, type OutboxMail } from './outbox-mail.ts';

/** A message to a person, or a mail of an agent, that was kept here instead of being sent. */
export interface OutboxMessage extends Omit<OutboxMail, 'date'> {
  readonly id: string;
  /** ISO 8601. */
  readonly sentAt: string;
  readonly file: string;
}

/** Ids of messages that ask or tell a person something. What agents send has others, and no link in it is ours. */
const LETTER_ID = /^ntc_/;

/** Whether it is a message of ours, and no mail that an agent sent. */
export function isNotification({ id }: Pick<OutboxMessage, 'id'>): boolean {
  return LETTER_ID.test(id);
}

/** What a list shows of it. */
export type OutboxEntry = Pick<OutboxMessage, 'id' | 'sentAt' | 'to' | 'subject'>;

const FILE = /^([A-Za-z0-9_-]{1,128})\.eml$/;
/** Enough for the headers that we write. */
const HEAD_BYTES = 8192;
const WHOLE_BYTES_MAX = 32 * 1024 * 1024;

/** Where the daemon keeps messages to people while it has no mail server. */
export function outboxFolder({ dataFolder }: Pick<Home, 'dataFolder'>): string {
  return join(dataFolder, 'outbox');
}

/** The messages of the outbox, newest first; none where there is no outbox. */
export function outboxEntries(folder: string): OutboxEntry[] {
  return namesIn(folder)
    .flatMap((name) => {
      const id = FILE.exec(name)?.[1];
      return (id !== undefined && read(folder, id, HEAD_BYTES)) || [];
    })
    .toSorted(newestFirst)
    .map(({ message: { id, sentAt, to, subject } }) => ({ id, sentAt, to, subject }));
}

/** The whole message with this id, or null if the outbox doesn't have it. */
export function outboxMessage(folder: string, id: string): OutboxMessage | null {
  if (!FILE.test(`${id}.eml`)) return null;
  return read(folder, id, WHOLE_BYTES_MAX)?.message ?? null;
}

interface Found {
  readonly message: OutboxMessage;
  readonly writtenMs: number;
}

/** Dates of mail are whole seconds: within one, what was written later is newer. */
function newestFirst(a: Found, b: Found): number {
  const [earlier, later] = [a.message.sentAt, b.message.sentAt];
  if (earlier !== later) return earlier < later ? 1 : -1;
  return b.writtenMs - a.writtenMs || (a.message.id < b.message.id ? 1 : -1);
}

/** Null for a file that is gone by now, or is none. */
function read(folder: string, id: string, maxBytes: number): Found | null {
  const file = join(folder, `${id}.eml`);
  let handle: number;
  try {
    handle = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (['ENOENT', 'ELOOP', 'ENXIO'].includes(errorCode(error) ?? '')) return null;
    throw error;
  }
  try {
    const stat = fstatSync(handle);
    if (!stat.isFile()) return null;
    const bytes = Buffer.alloc(Math.min(stat.size, maxBytes));
    const length = readSync(handle, bytes, 0, bytes.length, 0);
    const { date, link, ...mail } = readMail(bytes.subarray(0, length));
    const sentAt = isoTime(Math.floor(date ?? stat.mtimeMs));
    const ours = isNotification({ id }) ? link : null;
    return { message: { id, sentAt, file, ...mail, link: ours }, writtenMs: stat.mtimeMs };
  } finally {
    closeSync(handle);
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
