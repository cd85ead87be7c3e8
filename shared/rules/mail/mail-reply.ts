import { EMAIL_SUBJECT_MAX_CHARS } from '../../lib/limits.ts';
import { isMessageId } from './message-id.ts';

interface NamedAddress {
  readonly address: string;
  readonly name: string;
}

/** The parts of a mail that a reply uses, as its event's payload has them. */
export interface OriginalMail {
  readonly message_id: string | null;
  readonly from: NamedAddress | null;
  readonly to: readonly NamedAddress[];
  readonly cc: readonly NamedAddress[];
  readonly reply_to: readonly NamedAddress[];
  readonly subject: string;
  readonly date: string | null;
  readonly references: readonly string[];
  readonly in_reply_to: string | null;
  readonly text: string | null;
  readonly auto_submitted: boolean;
}

const REFERENCES_MAX = 20;
const QUOTE_MAX_CHARS = 20_000;

/** The addresses that a mail wants its replies at: Reply-To, or else From (RFC 5322 section 3.6.2). */
export function replyTargets({ reply_to, from }: OriginalMail): string[] {
  const wanted = reply_to.map(({ address }) => address).filter((address) => address !== '');
  return wanted.length > 0 || !from?.address ? wanted : [from.address];
}

/** `Re: Order`, with a single `Re:`. */
export function replySubject({ subject }: OriginalMail): string {
  const whole = /^re:/i.test(subject.trim()) ? subject.trim() : `Re: ${subject.trim()}`.trim();
  return whole.slice(0, EMAIL_SUBJECT_MAX_CHARS).toWellFormed();
}

/**
 * The value of References for a reply: the original's, then its own id (RFC 5322 section 3.6.4). Of a long list it keeps
 * the first, which names the thread, and the last ones.
 */
export function replyReferences({ references, in_reply_to, message_id }: OriginalMail): string[] {
  const before = references.length > 0 || in_reply_to === null ? references : [in_reply_to];
  const ids = [...before, ...(message_id === null ? [] : [message_id])].filter(isMessageId);
  const [first] = ids;
  if (first === undefined || ids.length <= REFERENCES_MAX) return ids;
  return [first, ...ids.slice(1 - REFERENCES_MAX)];
}

/** The original's text under a line that names its writer, each line after `>` (RFC 3676 section 4.5); null without text. */
export function quoteOf({ text, from, date }: OriginalMail): string | null {
  if (text === null || text.trim() === '') return null;
  const kept = text.slice(0, QUOTE_MAX_CHARS).toWellFormed();
  const lines = `${kept}${kept.length < text.length ? '\n[…]' : ''}`.trimEnd().split(/\r\n?|\n/);
  const quoted = lines.map((line) =>
    line === '' || line.startsWith('>') ? `>${line}` : `> ${line}`,
  );
  const when = date === null ? '' : `On ${date.slice(0, 10)} at ${date.slice(11, 16)} UTC, `;
  const writer = from === null ? 'somebody' : `${from.name} <${from.address}>`.trim();
  return [`${when}${writer} wrote:`, ...quoted].join('\n');
}
