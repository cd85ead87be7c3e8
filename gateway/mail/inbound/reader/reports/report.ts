import type { Attachment } from 'postal-mime';
import { isMailAddress } from '../../../../../shared/rules/mail/mail-address.ts';
import { oneLine } from '../../../plain-text.ts';
import type {
  MailReport,
  ReportedRecipient,
} from '../../../../commit/commands/mail/mail-report.ts';
import { bytesOf } from '../attachments.ts';
import { isAutomatic } from './automatic.ts';
import { messageIds, type MailHeader } from '../headers.ts';
import { ourIdIn, reportInWords } from './report-words.ts';

/** How much of a part we read. */
const PART_MAX_BYTES = 256 * 1024;
const RECIPIENTS_MAX = 100;
const DIAGNOSTIC_MAX_CHARS = 500;

const STATUSES = ['message/delivery-status', 'message/global-delivery-status'];
const ORIGINALS = [
  'message/rfc822',
  'message/global',
  'text/rfc822-headers',
  'message/rfc822-headers',
  'message/global-headers',
];
const ACTIONS = ['failed', 'delayed', 'delivered', 'relayed', 'expanded'] as const;
/** Types of feedback that are complaints (RFC 5965 section 7.3); others report failed checks, or withdraw a complaint. */
const COMPLAINTS = ['abuse', 'fraud', 'virus', 'other'];

/** The values of each field, by its name in lower case. */
type Fields = ReadonlyMap<string, readonly string[]>;

/**
 * The report in a mail: as RFC 3464 and RFC 5965 want it, or in the words of a mail server. Null if there is none, or it
 * only looks like one. `text` is the mail's own.
 */
export function reportOf(
  header: MailHeader,
  attachments: readonly Attachment[],
  text: string,
): MailReport | null {
  const type = header.reportType();
  const isReport = type === 'delivery-status' || type === 'feedback-report';
  // Such as a receipt.
  if (type !== null && !isReport) return null;
  // Some servers leave out the type of the report, or the whole multipart/report.
  const isMachine = isReport || isAutomatic(header);
  const original = originalId(attachments) ?? (isMachine ? ourIdInAny(attachments) : null);
  const found = isMachine ? reportInParts(attachments, type, original) : null;
  return found ?? (type === 'feedback-report' ? null : reportInWords(header, text, original));
}

/** Looks for the part that the type promises; without a type, for either. */
function reportInParts(
  attachments: readonly Attachment[],
  type: string | null,
  original: string | null,
): MailReport | null {
  const status = type === 'feedback-report' ? null : partOf(attachments, STATUSES);
  const delivery = status === null ? null : deliveryReport(status, original);
  if (delivery !== null || type === 'delivery-status') return delivery;
  const feedback = partOf(attachments, ['message/feedback-report']);
  return feedback === null ? null : complaint(feedback, original);
}

/** The first group of fields is about the mail, each later one about a recipient (RFC 3464 section 2.1). */
function deliveryReport(status: string, original: string | null): MailReport | null {
  const groups = status.split(/\n(?:[ \t]*\n)+/).map(fieldsOf);
  const noted = groups.map((fields) => ourIdIn(valueOf(fields, 'x-original-message-id')));
  const recipients = groups
    .filter((fields) => fields.has('final-recipient') || fields.has('original-recipient'))
    .slice(0, RECIPIENTS_MAX)
    .flatMap(recipientOf);
  if (recipients.length === 0) return null;
  const original_message_id = original ?? noted.find((id) => id !== null) ?? null;
  return { kind: 'delivery', basis: 'fields', original_message_id, recipients };
}

function recipientOf(fields: Fields): readonly ReportedRecipient[] {
  const status = statusIn(valueOf(fields, 'status'));
  const action = actionOf(valueOf(fields, 'action'), status);
  if (action === null) return [];
  // We wrote to the original recipient; the final one may be where the mail was forwarded.
  const address =
    addressIn(valueOf(fields, 'original-recipient')) ??
    addressIn(valueOf(fields, 'final-recipient'));
  const diagnostic = oneLine(
    valueOf(fields, 'diagnostic-code').replace(/^[\w-]{1,40}\s*;/, ''),
    DIAGNOSTIC_MAX_CHARS,
  );
  return [{ address, action, status, diagnostic: diagnostic === '' ? null : diagnostic }];
}

/** What happened, from the field itself or else from the class of the status. */
function actionOf(value: string, status: string | null): (typeof ACTIONS)[number] | null {
  const word = /^[a-z]*/i.exec(value)?.[0].toLowerCase() ?? '';
  const named = ACTIONS.find((one) => one === word);
  if (named !== undefined || value !== '' || status === null) return named ?? null;
  if (status.startsWith('5')) return 'failed';
  return status.startsWith('4') ? 'delayed' : 'delivered';
}

/** `5.1.1` at the start of a text. */
function statusIn(value: string): string | null {
  return /^[245]\.\d{1,3}\.\d{1,3}(?!\S)/.exec(value)?.[0] ?? null;
}

function complaint(feedback: string, original: string | null): MailReport | null {
  const fields = fieldsOf(feedback);
  if (!COMPLAINTS.includes(valueOf(fields, 'feedback-type').toLowerCase())) return null;
  const named = (fields.get('original-rcpt-to') ?? []).slice(0, RECIPIENTS_MAX).map(addressIn);
  const recipients = (named.length === 0 ? [null] : named).map((address) => ({
    address,
    action: 'complaint' as const,
    status: null,
    diagnostic: null,
  }));
  return { kind: 'complaint', basis: 'fields', original_message_id: original, recipients };
}

/**
 * The Message-ID of the mail that a report is about, from the report's copy of it. A relay that replaced it left ours in
 * References.
 */
function originalId(attachments: readonly Attachment[]): string | null {
  const original = partOf(attachments, ORIGINALS);
  if (original === null) return null;
  const [header = ''] = original.replace(/^\n+/, '').split(/\n\n/, 1);
  const fields = fieldsOf(header);
  const ids = messageIds(valueOf(fields, 'message-id'));
  return ids.find((id) => ourIdIn(id) !== null) ?? ourIdIn(header) ?? ids[0] ?? null;
}

/** Some servers name another type for their copy of the mail. */
function ourIdInAny(attachments: readonly Attachment[]): string | null {
  const ids = attachments.map((one) => ourIdIn(bytesOf(one).toString('latin1', 0, PART_MAX_BYTES)));
  return ids.find((id) => id !== null) ?? null;
}

function partOf(attachments: readonly Attachment[], types: readonly string[]): string | null {
  const found = attachments.find(({ mimeType }) => types.includes(mimeType));
  if (found === undefined) return null;
  return bytesOf(found).toString('utf8', 0, PART_MAX_BYTES).replaceAll('\r\n', '\n');
}

/** Unfolds lines (RFC 5322 section 2.2.3) and reads their fields. */
function fieldsOf(text: string): Fields {
  const lines: string[][] = [];
  for (const line of text.split('\n')) {
    if (/^[ \t]/.test(line)) lines.at(-1)?.push(line);
    else lines.push([line]);
  }
  const fields = new Map<string, string[]>();
  for (const pieces of lines) {
    const line = pieces.join('');
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0)).trim().toLowerCase();
    if (!/^[\w-]{1,80}$/.test(name)) continue;
    const value = line.slice(colon + 1).trim();
    const known = fields.get(name);
    if (known === undefined) fields.set(name, [value]);
    else known.push(value);
  }
  return fields;
}

function valueOf(fields: Fields, name: string): string {
  return fields.get(name)?.[0] ?? '';
}

/** Reads `rfc822; ana@example.com`, or the address alone, also in angle brackets. */
function addressIn(value: string): string | null {
  const address = value
    .replace(/^[\w-]{1,40}\s*;/, '')
    .trim()
    .replace(/^<(.*)>$/, '$1');
  return isMailAddress(address) ? address : null;
}
