import { domainOf, isMailAddress } from '../../shared/rules/mail/mail-address.ts';
import { usageError } from '../errors.ts';
import { phrase } from './mime.ts';

/** The mail fields that `--set` can change. */
export type MailField = 'subject' | 'from' | 'text' | 'in_reply_to' | 'message_id';

export type MailFields = Readonly<Partial<Record<MailField, string>>>;

interface Settable {
  readonly kind: string;
  readonly fields: readonly MailField[];
  /** A field that the mail can't be built without. */
  readonly required: MailField | null;
}

/** Parses `name=value` assignments; the last one for a name wins. Refuses fields that the kind doesn't take. */
export function mailFields(
  { kind, fields, required }: Settable,
  assignments: readonly string[],
): MailFields {
  const given: Partial<Record<MailField, string>> = {};
  for (const assignment of assignments) {
    const at = assignment.indexOf('=');
    const name = assignment.slice(0, Math.max(at, 0));
    const field = fields.find((one) => one === name);
    if (field === undefined) {
      const hint = `For ${kind}, --set takes: ${fields.join(', ')}. For example: --set ${fields[0] ?? ''}=…`;
      throw usageError(`--set doesn't take \`${assignment}\`.`, hint);
    }
    given[field] = assignment.slice(at + 1);
  }
  if (required !== null && given[required] === undefined) {
    throw usageError(
      `${kind} refers to a sent message: name it.`,
      `For example: svc trigger ${kind} --set ${required}=msg_…, with a message_id of svc email send.`,
    );
  }
  return given;
}

/** Checks that the subject is one line. */
export function subjectLine(subject: string): string {
  return oneLine('subject', subject);
}

/** `Ines <ines@example.com>` or a bare address, as a header value. */
export function mailbox(text: string): string {
  const match = /^(?:([^<>]*)<([^<>]*)>|([^<>]*))$/.exec(oneLine('from', text));
  const address = (match?.[2] ?? match?.[3] ?? '').trim();
  if (!isMailAddress(address)) {
    const hint = 'For example: --set "from=Ines <ines@example.com>"';
    throw usageError(`\`from\` must be a mail address, not "${text}".`, hint);
  }
  const name = match?.[1]?.trim() ?? '';
  return name === '' ? address : `${phrase(name)} <${address}>`;
}

/** Returns the Message-ID; turns the id of a message sent from `address` into its Message-ID. */
export function messageId(field: MailField, text: string, address: string): string {
  if (/^msg_[0-9a-z]{26}$/.test(text)) return `<${text}@${domainOf(address)}>`;
  const match = /^<?([!-;=?A-~]{1,255}@[!-;=?A-~]{1,255})>?$/.exec(text);
  if (match?.[1] !== undefined) return `<${match[1]}>`;
  const hint = `For example: --set ${field}=msg_…, with a message_id of svc email send.`;
  throw usageError(`\`${field}\` must be a message id or a Message-ID.`, hint);
}

function oneLine(field: MailField, text: string): string {
  // oxlint-disable-next-line no-control-regex -- a line end would begin another header
  if (text !== '' && !/[\u0000-\u001f\u007f]/.test(text)) return text;
  throw usageError(`\`${field}\` must be one line of text.`);
}
