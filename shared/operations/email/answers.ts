/** The mail that a mail of ours answers, as its batch stores it. */
export interface AnsweredMail {
  readonly event_id: string;
  /** With its angle brackets; null if the mail had none that fits in a header. */
  readonly message_id: string | null;
  readonly references: readonly string[];
  readonly subject: string;
  readonly from: string;
  readonly verified: boolean;
  /** What stands below our text. */
  readonly quote: string | null;
}

/** The mail that a stored batch answers. */
export function answersOf(batch: { readonly answers: string | null }): AnsweredMail | null {
  return batch.answers === null ? null : (JSON.parse(batch.answers) as AnsweredMail);
}
