import type { MailOutcome } from '../../lib/metrics.ts';

/** Takes a mail in: reads it, finds whom it is for, stores it. */
export interface MailTaker {
  /**
   * Resolves when what became of it is durable; the same mail may be given again and is then a duplicate. Rejects when it
   * cannot be stored now, as on a full disk. `whole` is false where `raw` has the headers alone, of a mail of `sizeBytes`.
   */
  take(mail: {
    readonly raw: Uint8Array;
    readonly whole: boolean;
    readonly sizeBytes: number;
  }): Promise<MailOutcome>;
}
