import type { EmailAddressRow } from '../../store/tables/mail/email-addresses.ts';
import type { EmailBatchRow } from '../../store/tables/mail/emails.ts';
import { addressesByField, isShared, type Recipient } from '../../rules/mail/mail-recipients.ts';
import type { Repositories } from '../../store/repositories.ts';
import type { StoredAttachment } from './attachments.ts';
import { answersOf, type AnsweredMail } from './answers.ts';

/** A mail that waits for approval, as the approver must see it. */
export interface ProposedMail {
  readonly sender: string;
  readonly recipients: readonly Recipient[];
  readonly subject: string;
  readonly text: string;
  readonly html: string | undefined;
  readonly attachments: readonly StoredAttachment[];
  readonly answers: AnsweredMail | null;
}

const NAMED_MAX = 2;
const WARNED_MAX = 5;
const NAMES_MAX_CHARS = 140;
const SUBJECT_SHOWN_CHARS = 120;
const TEXT_SHOWN_CHARS = 1000;
const HTML_SHOWN_CHARS = 500;
const MORE = '…';
/** We look for words only in this much of the HTML. */
const HTML_READ_CHARS = 20_000;

/** `Send "Subject" to ana@example.com and 3 more`. */
export function summaryOf(subject: string, addresses: readonly string[]): string {
  const count = addresses.length;
  const named = addresses.slice(0, NAMED_MAX).join(', ');
  const others = count > NAMED_MAX ? ` and ${count - NAMED_MAX} more` : '';
  // Addresses can be too long for one line; the details list them all.
  const whom = named.length > NAMES_MAX_CHARS ? `${count} long addresses` : named + others;
  return `Send "${beginning(subject, SUBJECT_SHOWN_CHARS)}" to ${whom}`;
}

/**
 * Recipients, subject, attachments and the beginning of the text. Marks recipients that this project has never written
 * to: an agent that was tricked into sending something writes to a stranger.
 */
export async function detailsOf(store: Repositories, mail: ProposedMail): Promise<string> {
  const { to, cc, bcc } = addressesByField(mail.recipients);
  const areSeparate = to.length > 1 && !isShared(mail.recipients);
  return [
    `From: ${mail.sender}`,
    areSeparate ? `To ${to.length} recipients, one message each:` : 'To:',
    ...(await addressLines(store, to)),
    ...(cc.length > 0 ? ['Cc:', ...(await addressLines(store, cc))] : []),
    ...(bcc.length > 0 ? [BCC, ...(await addressLines(store, bcc))] : []),
    `Subject: ${mail.subject}`,
    ...answerLines(mail.answers),
    ...attachmentLines(mail.attachments),
    '',
    beginning(mail.text, TEXT_SHOWN_CHARS),
    ...htmlLines(mail.html),
  ].join('\n');
}

/**
 * Warnings in our own words: recipients that this project has never written to, HTML that says more, and text that
 * continues past what we show. The approver can't rely on the `…` in the text, because the agent may have written it.
 */
export async function warningsAbout(store: Repositories, requestId: string): Promise<string[]> {
  const batch = await store.emails.findByRequest(requestId);
  const messages = batch ? await store.emails.messagesOf(batch.id) : [];
  const unknown: string[] = [];
  const onlyHeardOf: string[] = [];
  for (const { recipient } of messages) {
    const known = await store.emailAddresses.find(recipient);
    if (known?.sent_at) continue;
    (known?.received_at ? onlyHeardOf : unknown).push(recipient);
  }
  return [
    ...line('Never written to before', unknown),
    ...line('Known only from mail that came in', onlyHeardOf),
    ...(batch ? contentWarnings(batch) : []),
  ];
}

function contentWarnings(batch: EmailBatchRow): string[] {
  return [
    ...(answersOf(batch)?.verified === false ? [UNVERIFIED] : []),
    ...(batch.html ? ['Most readers will be shown the HTML of this mail, not its text.'] : []),
    ...unseen(batch),
  ];
}

/** Warnings about parts of the mail that the approver doesn't see. */
function unseen({ text, html }: Pick<EmailBatchRow, 'text' | 'html'>): string[] {
  const ofText = text !== null && beginning(text, TEXT_SHOWN_CHARS) !== text;
  const words = wordsOf(html ?? '');
  const ofHtml = beginning(words, HTML_SHOWN_CHARS) !== words || words.endsWith(MORE);
  return [
    ...(ofText ? [`Only the beginning of its text is shown, of ${text.length} characters.`] : []),
    ...(ofHtml ? [`Only the beginning of its HTML is shown, of ${html?.length} characters.`] : []),
    ...(BEYOND_WORDS.test(html ?? '') ? ['Links and pictures of its HTML are not shown.'] : []),
  ];
}

function line(what: string, addresses: readonly string[]): string[] {
  if (addresses.length === 0) return [];
  const named = addresses.slice(0, WARNED_MAX).join(', ');
  const others = addresses.length - WARNED_MAX;
  return [`${what}: ${named}${others > 0 ? ` and ${others} more` : ''}`];
}

const BCC = "Bcc, which the others don't see:";

async function addressLines(
  { emailAddresses }: Repositories,
  addresses: readonly string[],
): Promise<string[]> {
  const lines: string[] = [];
  for (const address of addresses) {
    lines.push(`  ${address}${remark(await emailAddresses.find(address))}`);
  }
  return lines;
}

function remark(known: EmailAddressRow | undefined): string {
  if (known?.suppressed_by === 'complaint') return '  (complained before: nothing will be sent)';
  if (known?.suppressed_by) return '  (bounced before: nothing will be sent)';
  if (known?.sent_at) return '';
  return known?.received_at
    ? '  (NEW: never written to; known only from mail that came in)'
    : '  (NEW: never written to before)';
}

const UNVERIFIED =
  "The mail it answers isn't verified: anybody may have written it, whatever sender it names.";

function answerLines(answers: AnsweredMail | null): string[] {
  if (answers === null) return [];
  const { from, verified, subject, event_id, quote } = answers;
  const what = `"${beginning(subject, SUBJECT_SHOWN_CHARS)}" (${event_id})`;
  return [
    `Answers: ${what} from ${from}${verified ? '' : ', not verified'}`,
    ...(quote === null ? [] : [`Quotes it below the text, ${quote.length} characters.`]),
  ];
}

function attachmentLines(attachments: readonly StoredAttachment[]): string[] {
  if (attachments.length === 0) return [];
  const lines = attachments.map(({ path, size_bytes }) => `  ${path} (${size_bytes} bytes)`);
  return ['Attachments:', ...lines];
}

/** Most mail readers show the HTML and never the text, so the approver must see its words too. */
function htmlLines(html: string | undefined): string[] {
  if (html === undefined) return [];
  const words = beginning(wordsOf(html), HTML_SHOWN_CHARS);
  return [
    '',
    `Most readers will see its HTML instead (${html.length} characters), which says:`,
    words,
  ];
}

function beginning(text: string, chars: number): string {
  const shown = Array.from(text.slice(0, 2 * chars))
    .slice(0, chars)
    .join('');
  return shown.length < text.length ? shown + MORE : shown;
}

/** The second character of a tag or comment; readers show any other `<` as it is. */
const TAG_BEGINS = /[a-z/!?]/i;

/** Tags that convey more than the words between them: where a link leads, or a picture and its description. */
const BEYOND_WORDS =
  /<(?:a|area|base|button|embed|form|iframe|image|img|input|link|object|picture|style|svg|textarea|video)[\s/>]/i;

/** The text between the tags of the first HTML_READ_CHARS characters, in one pass. No decision depends on it. */
function wordsOf(html: string): string {
  const read = Array.from(html.slice(0, HTML_READ_CHARS).toWellFormed());
  let text = '';
  let isInTag = false;
  for (const [index, character] of read.entries()) {
    if (character === '<' && !isInTag) isInTag = TAG_BEGINS.test(read[index + 1] ?? '');
    if (!isInTag) text += character;
    else if (character === '>') {
      isInTag = false;
      text += ' ';
    }
  }
  const more = html.length > HTML_READ_CHARS ? MORE : '';
  return text.replaceAll(/\s+/g, ' ').trim() + more;
}
