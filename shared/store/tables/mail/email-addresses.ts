import type { Row, Tx } from '../../engine/driver.ts';

/** Our record of an address. Times are ISO text, or null for things that never happened. */
export interface EmailAddressRow extends Row {
  /** In lower case. */
  address: string;
  /** When we last sent a mail to it. */
  sent_at: string | null;
  /** When it last sent us a verified mail. */
  received_at: string | null;
  /** Since when we send nothing to it. */
  suppressed_at: string | null;
  /** `bounce` or `complaint`. */
  suppressed_by: string | null;
}

/** Messages requested and sent, and the reports about them. */
export interface EmailCounts extends Row {
  asked: number;
  sent: number;
  bounced: number;
  complained: number;
}

type MailCounter = 'asked' | 'sent' | 'bounced' | 'complained';

/** Addresses that we exchange mail with, and daily counts. Days are in UTC, such as `2026-01-31`. */
export class EmailAddressRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  find(address: string): Promise<EmailAddressRow | undefined> {
    return this.#tx.get<EmailAddressRow>(
      'SELECT address, sent_at, received_at, suppressed_at, suppressed_by FROM email_address WHERE address = ?',
      [address.toLowerCase()],
    );
  }

  async noteSent(address: string, nowIso: string): Promise<void> {
    await this.#tx.put(
      'INSERT INTO email_address (address, sent_at) VALUES (?, ?) ON CONFLICT DO UPDATE SET sent_at = excluded.sent_at',
      [address.toLowerCase(), nowIso],
    );
  }

  async noteReceived(address: string, nowIso: string): Promise<void> {
    await this.#tx.put(
      'INSERT INTO email_address (address, received_at) VALUES (?, ?) ON CONFLICT DO UPDATE SET received_at = excluded.received_at',
      [address.toLowerCase(), nowIso],
    );
  }

  /** Keeps the first reason. */
  async suppress(address: string, by: 'bounce' | 'complaint', nowIso: string): Promise<void> {
    await this.#tx.put(
      `INSERT INTO email_address (address, suppressed_at, suppressed_by) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET suppressed_at = excluded.suppressed_at, suppressed_by = excluded.suppressed_by
       WHERE suppressed_at IS NULL`,
      [address.toLowerCase(), nowIso, by],
    );
  }

  /** Adds `n` to a day's count; negative numbers subtract. */
  async count(day: string, what: MailCounter, n: number): Promise<void> {
    await this.#tx.put(
      `INSERT INTO email_day (day, ${what}) VALUES (?, ?) ON CONFLICT DO UPDATE SET ${what} = ${what} + excluded.${what}`,
      [day, n],
    );
  }

  /** The totals from one day to another, inclusive. */
  async sums(firstDay: string, lastDay: string): Promise<EmailCounts> {
    const row = await this.#tx.get<EmailCounts>(
      `SELECT coalesce(sum(asked), 0) AS asked, coalesce(sum(sent), 0) AS sent,
         coalesce(sum(bounced), 0) AS bounced, coalesce(sum(complained), 0) AS complained
       FROM email_day WHERE day BETWEEN ? AND ?`,
      [firstDay, lastDay],
    );
    return row ?? { asked: 0, sent: 0, bounced: 0, complained: 0 };
  }
}
