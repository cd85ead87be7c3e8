import type { Attachment } from 'postal-mime';
import { isMailAddress } from '../../../../shared/rules/mail-address.ts';
import { oneLine } from '../../plain-text.ts';
import type { MailReport, ReportedRecipient } from '../../../lib/mail-report.ts';
import { bytesOf } from './attachments.ts';
import { messageIds, type MailHeader } from './headers.ts';

/** How much of a part we read. */
const PART_MAX_BYTES = 256 * 1024;
const RECIPIENTS_MAX = 100;
const DIAGNOSTIC_MAX_CHARS = 500;

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

/** The report in a mail (RFC 3464, RFC 5965); null if there is none, or it only looks like one. */
export function reportOf(
  header: MailHeader,
  attachments: readonly Attachment[],
): MailReport | null {
  const type = header.reportType();
  if (type === 'delivery-status') {
    const status = partOf(attachments, [
      'message/delivery-status',
      'message/global-delivery-status',
    ]);
    return status === null ? null : deliveryReport(status, attachments);
  }
  if (type !== 'feedback-report') return null;
  const feedback = partOf(attachments, ['message/feedback-report']);
  return feedback === null ? null : complaint(feedback, attachments);
}

/** The first group of fields is about the mail, each later one about a recipient (RFC 3464 section 2.1). */
function deliveryReport(status: string, attachments: readonly Attachment[]): MailReport | null {
  const groups = status.split(/\n(?:[ \t]*\n)+/).map(fieldsOf);
  const recipients = groups
    .filter((fields) => fields.has('final-recipient'))
    .slice(0, RECIPIENTS_MAX)
    .flatMap(recipientOf);
  if (recipients.length === 0) return null;
  return { kind: 'delivery', original_message_id: originalId(attachments), recipients };
}

function recipientOf(fields: Fields): readonly ReportedRecipient[] {
  const action = ACTIONS.find((one) => one === valueOf(fields, 'action').toLowerCase());
  if (action === undefined) return [];
  // We wrote to the original recipient; the final one may be where the mail was forwarded.
  const address =
    addressIn(valueOf(fields, 'original-recipient')) ??
    addressIn(valueOf(fields, 'final-recipient'));
  const diagnostic = oneLine(
    valueOf(fields, 'diagnostic-code').replace(/^[\w-]{1,40}\s*;/, ''),
    DIAGNOSTIC_MAX_CHARS,
  );
  const status = /^[245]\.\d{1,3}\.\d{1,3}(?!\S)/.exec(valueOf(fields, 'status'))?.[0] ?? null;
  return [{ address, action, status, diagnostic: diagnostic === '' ? null : diagnostic }];
}

function complaint(feedback: string, attachments: readonly Attachment[]): MailReport | null {
  const fields = fieldsOf(feedback);
  if (!COMPLAINTS.includes(valueOf(fields, 'feedback-type').toLowerCase())) return null;
  const named = (fields.get('original-rcpt-to') ?? []).slice(0, RECIPIENTS_MAX).map(addressIn);
  const recipients = (named.length === 0 ? [null] : named).map((address) => ({
    address,
    action: 'complaint' as const,
    status: null,
    diagnostic: null,
  }));
  return { kind: 'complaint', original_message_id: originalId(attachments), recipients };
}

/** The Message-ID of the mail that a report is about, from the report's copy of it. */
function originalId(attachments: readonly Attachment[]): string | null {
  const original = partOf(attachments, ORIGINALS);
  if (original === null) return null;
  const [header = ''] = original.replace(/^\n+/, '').split(/\n\n/, 1);
  return messageIds(valueOf(fieldsOf(header), 'message-id'))[0] ?? null;
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
