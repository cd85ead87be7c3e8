/** What a report says of one recipient (RFC 3464, RFC 5965). */
export interface ReportedRecipient {
  readonly address: string | null;
  readonly action: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded' | 'complaint';
  /** `5.1.1`; null when it is not said. */
  readonly status: string | null;
  readonly diagnostic: string | null;
}

/** A report about a mail that was sent before. */
export interface MailReport {
  readonly kind: 'delivery' | 'complaint';
  /** The Message-ID of that mail, with its angle brackets. */
  readonly original_message_id: string | null;
  readonly recipients: readonly ReportedRecipient[];
}
