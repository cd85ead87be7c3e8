/** The field of a mail that names a recipient. */
export type RecipientField = 'to' | 'cc' | 'bcc';

export interface Recipient {
  readonly address: string;
  readonly field: RecipientField;
}

/** Each field's addresses, in the order given. */
export function addressesByField(
  recipients: readonly Recipient[],
): Readonly<Record<RecipientField, string[]>> {
  const of = (wanted: RecipientField): string[] =>
    recipients.filter(({ field }) => field === wanted).map(({ address }) => address);
  return { to: of('to'), cc: of('cc'), bcc: of('bcc') };
}

/** Whether all recipients see the mail's To and Cc. Without Cc, each one in To sees only itself. */
export function isShared(recipients: readonly Pick<Recipient, 'field'>[]): boolean {
  return recipients.some(({ field }) => field === 'cc');
}

/** The addresses that one recipient sees. A blind copy shows To and Cc, and nobody sees Bcc. */
export function shownTo(
  reader: Recipient,
  recipients: readonly Recipient[],
): { readonly to: readonly string[]; readonly cc: readonly string[] } {
  if (reader.field === 'to' && !isShared(recipients)) return { to: [reader.address], cc: [] };
  const { to, cc } = addressesByField(recipients);
  return { to, cc };
}
