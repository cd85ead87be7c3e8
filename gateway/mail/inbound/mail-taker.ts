import type { MailOutcome } from '../../lib/metrics.ts';

/** Takes in a mail: reads it, finds its projects, stores it. */
export interface MailTaker {
  /**
   * Resolves once the result is durable; the same mail may come again and is then a duplicate. Rejects if the mail can't be
   * stored now, such as on a full disk. If `whole` is false, `raw` has only the headers of a mail of `sizeBytes`.
   */
  take(mail: {
    readonly raw: Uint8Array;
    readonly whole: boolean;
    readonly sizeBytes: number;
  }): Promise<MailOutcome>;
}
