import * as z from 'zod';
import { EMAIL_RECIPIENTS_MAX } from '../../lib/limits.ts';
import { isMailAddress, isRouted } from '../../rules/mail/mail-address.ts';
import type { Recipient, RecipientField } from '../../rules/mail/mail-recipients.ts';

const FIELDS: readonly RecipientField[] = ['to', 'cc', 'bcc'];

const address = z
  .string()
  .refine(isMailAddress, 'Expected a plain ASCII address `local@domain`, without a name.')
  .refine((one) => !isRouted(one), 'Mail servers may redirect an address with `%` or `!` in it.');

/** The addresses of one field of a mail; `refuseRecipients` limits their number. */
export const addresses = z.array(address);

type RecipientFields = Readonly<Partial<Record<RecipientField, readonly string[] | undefined>>>;

/** A recipient, and its place in the call, such as `cc[1]`. */
type NamedRecipient = Recipient & { readonly path: string };

/** All recipients of a call: To first, then Cc and Bcc. */
export function recipientsOf(named: RecipientFields): NamedRecipient[] {
  return FIELDS.flatMap((field) =>
    (named[field] ?? []).map((one, index) => ({ address: one, field, path: `${field}[${index}]` })),
  );
}

/** Refuses an address named twice, and too many over all fields. */
export function refuseRecipients(named: RecipientFields, context: z.core.$RefinementCtx): void {
  const recipients = recipientsOf(named);
  const first = new Map<string, string>();
  for (const { address: one, path, field } of recipients) {
    const earlier = first.get(one.toLowerCase());
    if (earlier === undefined) {
      first.set(one.toLowerCase(), path);
      continue;
    }
    const index = Number(path.slice(field.length + 1, -1));
    const message = `The same as ${earlier}.`;
    context.issues.push({ code: 'custom', input: one, path: [field, index], message });
  }
  const last = recipients[EMAIL_RECIPIENTS_MAX];
  if (!last) return;
  const message = `At most ${EMAIL_RECIPIENTS_MAX} recipients a call, with cc and bcc.`;
  context.issues.push({ code: 'custom', input: named, path: [last.field], message });
}

interface AddressFields {
  readonly to?: unknown;
  readonly subject?: unknown;
  readonly reply_to_event?: unknown;
}

/** Only a reply has its recipients and its subject from another mail. */
export function requireUnlessReply(mail: AddressFields, context: z.core.$RefinementCtx): void {
  if (mail.reply_to_event !== undefined) return;
  for (const field of ['to', 'subject'] as const) {
    if (mail[field] !== undefined) continue;
    const message = 'Required, except with `reply_to_event`.';
    context.issues.push({ code: 'custom', input: mail, path: [field], message });
  }
}
