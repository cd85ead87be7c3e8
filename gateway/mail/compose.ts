import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { domainOf, isMailAddress } from '../../shared/rules/mail/mail-address.ts';
import { isMessageId } from '../../shared/rules/mail/message-id.ts';
import type { OutgoingFile, OutgoingMail } from './mailer.ts';
import { oneLine } from './plain-text.ts';

/** A mail as it goes out. */
export interface ComposedMail {
  /** With its angle brackets. */
  readonly messageId: string;
  /** RFC 5322 as bytes: only ASCII, and every line ends in CR LF. */
  readonly raw: Buffer;
}

const MAIL_ID = /^[A-Za-z0-9_-]{1,128}$/;
const NAME_CHARS_MAX = 80;
const FILE_NAME_CHARS_MAX = 200;
/** Files are encoded in slices of this size, so other work gets a turn in between. A multiple of 3, as base64 needs. */
const SLICE_BYTES = 48 * 1024;

const TOKEN = "[A-Za-z0-9!#$%&'*+.^_`{|}~-]{1,100}";
const MEDIA_TYPE = new RegExp(`^(${TOKEN}/${TOKEN})\\s*(?:;|$)`);
const CHARSET = /;\s*charset\s*=\s*"?([A-Za-z0-9._:+-]{1,40})"?\s*(?:;|$)/i;
const ANY_TYPE = 'application/octet-stream';

/** Loaded with the first mail: most processes never send one. */
let composer: ReturnType<typeof loadComposer> | null = null;

async function loadComposer() {
  return (await import('nodemailer/lib/mail-composer')).default;
}

/**
 * Composes the bytes of a mail. They are the same for a server and for a folder; only the date changes. Throws TypeError
 * for an invalid id or address.
 */
export async function composeMail(mail: OutgoingMail, now: number): Promise<ComposedMail> {
  const { id, from, subject, text, html } = mail;
  const shown = mail.shown ?? { to: [mail.to], cc: [] };
  check(mail, shown);
  const messageId = `<${id}@${domainOf(from)}>`;
  const MailComposer = await (composer ??= loadComposer());
  const content = {
    messageId,
    from: { name: visible(mail.fromName ?? '', NAME_CHARS_MAX), address: from },
    to: shown.to.map(plain),
    ...(shown.cc.length > 0 && { cc: shown.cc.map(plain) }),
    ...threadOf(mail, messageId),
    subject: withoutEncodedWords(withoutControls(subject)),
    text: withLineEnds(text),
    ...(html !== undefined && { html: withLineEnds(html) }),
    attachments: (mail.attachments ?? []).map(toAttachment),
    date: new Date(now),
    headers: automatic(mail),
    baseBoundary: boundaryOf(mail),
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  return { messageId, raw: await new MailComposer(content).compile().build() };
}

/** Refuses what could say more in a header than it should. */
function check(mail: OutgoingMail, shown: NonNullable<OutgoingMail['shown']>): void {
  const { id, from, to, replyTo = from, returnPath = from, inReplyTo, references = [] } = mail;
  if (!MAIL_ID.test(id)) throw new TypeError('Not the id of a mail.');
  const ids = inReplyTo === undefined ? references : [inReplyTo, ...references];
  if (!ids.every((one) => isMessageId(one))) throw new TypeError('Not a Message-ID.');
  const addresses = [from, to, ...shown.to, ...shown.cc, replyTo, returnPath];
  if (!addresses.every(isMailAddress)) throw new TypeError('Not a mail address.');
}

/**
 * If a relay replaces the Message-ID, replies still refer to ours, and to the address that they go to: it names the
 * project to a mailbox that isn't told whom a mail is for.
 */
function threadOf({ replyTo, inReplyTo, references = [] }: OutgoingMail, messageId: string) {
  const answersTo = replyTo === undefined ? {} : { replyTo: plain(replyTo) };
  const others = inReplyTo === undefined ? references : [...references, inReplyTo];
  const own = replyTo === undefined ? [] : [`<${replyTo}>`, messageId];
  const ids = [...new Set([...others, ...own])];
  return {
    ...answersTo,
    ...(inReplyTo !== undefined && { inReplyTo }),
    ...(ids.length > 0 && { references: ids }),
  };
}

/** Nodemailer takes an object as it is; it would parse a string as a list. */
function plain(address: string) {
  return { name: '', address };
}

/**
 * Every mail says that a machine wrote it, agents' mails included (RFC 3834 section 5.1). Auto-responders then stay
 * silent, and two machines don't write to each other forever. Exchange has its own header ([MS-OXCMAIL] section
 * 2.1.3.2.12). It doesn't suppress delivery failures if there's a return path, or absence notices if there's a reply
 * address.
 */
function automatic({ replyTo, returnPath }: OutgoingMail): Record<string, string> {
  const unwanted = [
    'DR',
    'RN',
    'NRN',
    'AutoReply',
    ...(returnPath === undefined ? ['NDR'] : []),
    ...(replyTo === undefined ? ['OOF'] : []),
  ];
  return {
    'Auto-Submitted': 'auto-generated',
    'X-Auto-Response-Suppress': unwanted.length === 6 ? 'All' : unwanted.join(', '),
  };
}

/** The boundary between parts. It is a hash of everything that goes out unencoded, so no text can contain it. */
function boundaryOf({ id, text, html = '' }: OutgoingMail): string {
  return createHash('sha256')
    .update(JSON.stringify([id, text, html]))
    .digest('hex')
    .slice(0, 32);
}

function toAttachment({ name, contentType, bytes }: OutgoingFile) {
  return {
    // A slash could save the file in another folder.
    filename: visible(name.replace(/[/\\]/g, '_'), FILE_NAME_CHARS_MAX),
    contentType: mediaTypeOf(contentType),
    contentDisposition: 'attachment' as const,
    contentTransferEncoding: 'base64' as const,
    content: Readable.from(slices(bytes), { objectMode: false }),
  };
}

/** Mails and multiparts may not be base64-encoded as such (RFC 2046 section 5), so they go out as plain bytes. */
function mediaTypeOf(contentType: string): string {
  const type = MEDIA_TYPE.exec(contentType.trim())?.[1]?.toLowerCase() ?? ANY_TYPE;
  if (/^(?:multipart|message)\//.test(type)) return ANY_TYPE;
  const charset = CHARSET.exec(contentType)?.[1];
  return charset === undefined ? type : `${type}; charset=${charset}`;
}

async function* slices(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    yield bytes.subarray(at, at + SLICE_BYTES);
    await nextTurn();
  }
}

/** A bare CR or LF could end the mail early on a server that takes it for a line end. */
function withLineEnds(text: string): string {
  return text.replace(/\r\n?|\n/g, '\r\n');
}

function withoutControls(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are the characters to be removed
  return text.toWellFormed().replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ');
}

/** A name on one line, without invisible characters. */
function visible(name: string, maxChars: number): string {
  return withoutEncodedWords(oneLine(name, maxChars));
}

/** An encoded word in the text would go out unchanged, and mail programs would decode it into anything. */
function withoutEncodedWords(text: string): string {
  return text.replaceAll('=?', '= ?');
}
