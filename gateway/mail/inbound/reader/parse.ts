import PostalMime, { type Email } from 'postal-mime';
import type { MailAuthentication, MailPayload, ReadMail, MailFacts } from '../read-mail.ts';
import { filesOf, sha256 } from './attachments.ts';
import { isAutomatic } from './reports/automatic.ts';
import {
  HEADERS_MAX_BYTES,
  shapeOf,
  topHeader,
  withEmptyLines,
  withHeaders,
  type Shape,
} from './limits.ts';
import type { TxtRecords } from './dns.ts';
import { MailHeader } from './headers.ts';
import { htmlToText } from './text/html-text.ts';
import { directionOf } from './text/mail-direction.ts';
import { reportOf } from './reports/report.ts';
import { replyText } from './text/reply-text.ts';
import { readableHeader, charsetOf } from './readable-header.ts';
import { cleanText, cutText, hasMissing } from './texts.ts';
import { hashed, written } from './hashed.ts';
import { unverified } from './unread.ts';
import { verifyMail } from './verify.ts';

const TEXT_MAX_CHARS = 1_000_000;
const HTML_AS_TEXT_MAX_CHARS = 5_000_000;
/** The real cap is checked before parsing; this one is for mails that the parser reads differently. */
const PARSER_DEPTH_MAX = 32;

const PARSING = {
  forceRfc822Attachments: true,
  maxNestingDepth: PARSER_DEPTH_MAX,
  maxHeadersSize: HEADERS_MAX_BYTES,
};

/** Checks and parses a mail. Never throws because of its content. */
export async function parseMail(
  bytes: Buffer,
  seen: MailFacts,
  records: TxtRecords,
): Promise<ReadMail> {
  const shape = shapeOf(bytes);
  const parsed = seen.whole && shape.incomplete === null ? await parse(bytes, shape) : null;
  if (parsed === null) {
    const incomplete = seen.whole ? (shape.incomplete ?? 'malformed') : 'too_large';
    const header = await headerOf(bytes);
    const checkable = seen.whole && shape.headerEnd !== null && shape.gaps.length === 0;
    const authentication = checkable
      ? await authenticate(bytes, header, seen.now, records)
      : uncheckable(header);
    return withHeaderOnly(bytes, seen, header, { incomplete, authentication });
  }
  const header = new MailHeader(parsed.headers);
  // Check the mail as it's read: text slipped into a signed header isn't signed.
  const checked = withEmptyLines(
    bytes,
    shape.gaps.filter((at) => at === shape.headerEnd),
  );
  const authentication = await authenticate(checked, header, seen.now, records);
  return withParts(bytes, seen, { parsed, header, authentication });
}

/** The same for a mail that can't be parsed safely: only the top of its header, with no signature check. */
export async function parseHeader(bytes: Buffer, seen: MailFacts): Promise<ReadMail> {
  const header = await headerOf(bytes);
  const authentication = unverified('temperror', 'temperror');
  const incomplete = seen.whole ? 'malformed' : 'too_large';
  return withHeaderOnly(bytes, seen, header, { incomplete, authentication });
}

async function parse(bytes: Buffer, shape: Shape): Promise<Email | null> {
  const charset = charsetOf(bytes);
  try {
    const readable = withHeaders(bytes, shape, (header) => readableHeader(header, charset));
    const email = await PostalMime.parse(readable, PARSING);
    return isLost(email) ? null : email;
  } catch {
    return null;
  }
}

/** The parser found nothing in a multipart, so its whole content would be lost. */
function isLost({ headers, text, html, attachments }: Email): boolean {
  const type = headers.find(({ key }) => key === 'content-type')?.value ?? '';
  const isEmpty = text === undefined && html === undefined && attachments.length === 0;
  return isEmpty && /^multipart\//i.test(type);
}

async function headerOf(bytes: Buffer): Promise<MailHeader> {
  try {
    const header = readableHeader(topHeader(bytes), charsetOf(bytes));
    return new MailHeader((await PostalMime.parse(header, PARSING)).headers);
  } catch {
    return new MailHeader([]);
  }
}

function authenticate(
  bytes: Buffer,
  header: MailHeader,
  now: number,
  records: TxtRecords,
): Promise<MailAuthentication> {
  return verifyMail(bytes, { ...header.claim(), now }, records);
}

/** A signature covers the whole mail, which isn't there to check. */
function uncheckable(header: MailHeader): MailAuthentication {
  return unverified(header.first('dkim-signature') === '' ? 'none' : 'neutral', 'none');
}

interface Parts {
  readonly parsed: Email;
  readonly header: MailHeader;
  readonly authentication: MailAuthentication;
}

function withParts(
  bytes: Buffer,
  seen: MailFacts,
  { parsed, header, authentication }: Parts,
): ReadMail {
  const html = parsed.html === undefined ? null : cleanText(parsed.html);
  const whole = textOf(parsed.text, html);
  const text = whole === null ? null : cutText(whole, TEXT_MAX_CHARS);
  const isCut = isLonger(whole, TEXT_MAX_CHARS) || isLonger(html, HTML_AS_TEXT_MAX_CHARS);
  // The mail itself still contains what was cut off, or couldn't be decoded.
  const isLossy = isCut || [whole, html].some(hasMissing);
  const itself = isLossy ? { bytes, sizeBytes: seen.sizeBytes } : null;
  return {
    ...known(bytes, seen, header, authentication),
    ...written(payloadOf(header, authentication, { text, incomplete: isCut ? 'too_large' : null })),
    html: html === null ? null : hashed(new TextEncoder().encode(html)),
    ...filesOf(parsed.attachments, itself),
    report: reportOf(header, parsed.attachments, text ?? ''),
  };
}

function isLonger(text: string | null, maxChars: number): boolean {
  return text !== null && text.length > maxChars;
}

interface Missing {
  readonly incomplete: MailPayload['incomplete'];
  readonly authentication: MailAuthentication;
}

function withHeaderOnly(
  bytes: Buffer,
  seen: MailFacts,
  header: MailHeader,
  { incomplete, authentication }: Missing,
): ReadMail {
  return {
    ...known(bytes, seen, header, authentication),
    ...written(payloadOf(header, authentication, { text: null, incomplete })),
    html: null,
    ...filesOf([], { bytes: seen.whole ? bytes : null, sizeBytes: seen.sizeBytes }),
    report: null,
  };
}

function known(bytes: Buffer, seen: MailFacts, header: MailHeader, checked: MailAuthentication) {
  return {
    digest: sha256(bytes),
    size_bytes: seen.sizeBytes,
    verified: checked.dkim === 'pass' && checked.aligned && checked.dmarc === 'pass',
    delivered_to: header.deliveredTo(),
    addressed_to: header.addressedTo(),
  };
}

function payloadOf(
  header: MailHeader,
  authentication: MailAuthentication,
  { text, incomplete }: Pick<MailPayload, 'text' | 'incomplete'>,
): MailPayload {
  const facts = header.facts();
  const answers = facts.in_reply_to !== null || facts.references.length > 0;
  const direction = directionOf(facts.subject, answers);
  return {
    ...facts,
    text,
    text_stripped: text === null ? null : replyText(text, direction),
    authentication,
    auto_submitted: isAutomatic(header),
    incomplete,
  };
}

function textOf(plain: string | undefined, html: string | null): string | null {
  if (plain !== undefined && plain.trim() !== '') return cleanText(plain);
  if (html === null) return plain === undefined ? null : cleanText(plain);
  return cleanText(htmlToText(cutText(html, HTML_AS_TEXT_MAX_CHARS), TEXT_MAX_CHARS));
}
