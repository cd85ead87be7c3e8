import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  type Stats,
} from 'node:fs';
import { join } from 'node:path';
import { isoTime } from '../lib/clock.ts';
import { errorCode } from '../lib/guards.ts';
import { attachedFile, readMail, type OutboxMail } from './outbox-mail.ts';

/** A message to a person, or an agent's mail, that the daemon stored instead of sending it. */
export interface OutboxMessage extends Omit<OutboxMail, 'date'> {
  readonly id: string;
  /** ISO 8601. */
  readonly sentAt: string;
  readonly file: string;
}

/** Ids of our notifications to people. Mail from agents has other ids, and none of its links are ours. */
const LETTER_ID = /^ntc_/;

/** True for our own notification, false for an agent's mail. */
export function isNotification({ id }: Pick<OutboxMessage, 'id'>): boolean {
  return LETTER_ID.test(id);
}

/** The fields a list shows. */
export type OutboxEntry = Pick<OutboxMessage, 'id' | 'sentAt' | 'to' | 'subject'>;

const FILE = /^([A-Za-z0-9_-]{1,128})\.eml$/;
/** Enough for the headers our mailer writes, with 50 long addresses. */
const HEAD_BYTES = 32 * 1024;
const WHOLE_BYTES_MAX = 32 * 1024 * 1024;

/** Where the daemon stores messages to people while it has no mail server. */
export function outboxFolder({ dataFolder }: { readonly dataFolder: string }): string {
  return join(dataFolder, 'outbox');
}

/** The messages in the outbox, newest first; empty if there's no outbox. */
export function outboxEntries(folder: string): OutboxEntry[] {
  return namesIn(folder)
    .flatMap((name) => {
      const id = FILE.exec(name)?.[1];
      return (id !== undefined && read(folder, id, HEAD_BYTES)) || [];
    })
    .toSorted(newestFirst)
    .map(({ message: { id, sentAt, to, deliveredTo, subject } }) => ({
      id,
      sentAt,
      to: deliveredTo ?? to,
      subject,
    }));
}

/** The ids of all messages, the one written last first. */
export function outboxIds(folder: string): string[] {
  return namesIn(folder)
    .flatMap((name) => {
      const id = FILE.exec(name)?.[1];
      const found = id && lstatSync(join(folder, name), { throwIfNoEntry: false });
      return id && found ? [{ id, at: found.mtimeMs }] : [];
    })
    .toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))
    .map(({ id }) => id);
}

/** The beginning of a message: its head and, if it is short, its text. Null if the outbox doesn't have it. */
export function outboxHead(folder: string, id: string): OutboxMessage | null {
  return FILE.test(`${id}.eml`) ? (read(folder, id, HEAD_BYTES)?.message ?? null) : null;
}

/** The whole message with this id, or null if the outbox doesn't have it. */
export function outboxMessage(folder: string, id: string): OutboxMessage | null {
  if (!FILE.test(`${id}.eml`)) return null;
  return read(folder, id, WHOLE_BYTES_MAX)?.message ?? null;
}

/** A message's file, open for reading; the caller closes it. Null if the outbox doesn't have it. */
export function openOutboxFile(
  folder: string,
  id: string,
): { readonly file: number; readonly sizeBytes: number } | null {
  const opened = FILE.test(`${id}.eml`) ? open(folder, id) : null;
  return opened && { file: opened.handle, sizeBytes: opened.stat.size };
}

/** A file that goes with a message, by its place in `attachments`; null if the outbox doesn't have it. */
export function outboxAttachment(
  folder: string,
  id: string,
  index: number,
): ReturnType<typeof attachedFile> {
  const opened = FILE.test(`${id}.eml`) ? open(folder, id) : null;
  return opened && attachedFile(bytesOf(opened, WHOLE_BYTES_MAX), index);
}

interface OutboxRow {
  readonly message: OutboxMessage;
  readonly writtenMs: number;
}

/** Mail dates have whole seconds, so within a second the file times decide. */
function newestFirst(a: OutboxRow, b: OutboxRow): number {
  const [earlier, later] = [a.message.sentAt, b.message.sentAt];
  if (earlier !== later) return earlier < later ? 1 : -1;
  return b.writtenMs - a.writtenMs || (a.message.id < b.message.id ? 1 : -1);
}

function read(folder: string, id: string, maxBytes: number): OutboxRow | null {
  const opened = open(folder, id);
  if (!opened) return null;
  const { file, stat } = opened;
  const { date, link, ...mail } = readMail(bytesOf(opened, maxBytes));
  const sentAt = isoTime(Math.floor(date ?? stat.mtimeMs));
  const ours = isNotification({ id }) ? link : null;
  return { message: { id, sentAt, file, ...mail, link: ours }, writtenMs: stat.mtimeMs };
}

interface OpenFile {
  readonly file: string;
  readonly handle: number;
  readonly stat: Stats;
}

/** Null if the file is gone, or isn't a regular file. */
function open(folder: string, id: string): OpenFile | null {
  const file = join(folder, `${id}.eml`);
  let handle: number;
  try {
    handle = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (['ENOENT', 'ELOOP', 'ENXIO'].includes(errorCode(error) ?? '')) return null;
    throw error;
  }
  const stat = fstatSync(handle);
  if (stat.isFile()) return { file, handle, stat };
  closeSync(handle);
  return null;
}

/** The beginning of an open file, which it closes. */
function bytesOf({ handle, stat }: OpenFile, maxBytes: number): Buffer {
  try {
    const bytes = Buffer.alloc(Math.min(stat.size, maxBytes));
    const length = readSync(handle, bytes, 0, bytes.length, 0);
    return bytes.subarray(0, length);
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
