import type { Reader, Row, Writer } from '../../../shared/store/engine/driver.ts';

/** A position in a mailbox: the gateway has processed every mail up to it (RFC 3501 section 2.3.1.1). */
export interface MailboxCursor {
  readonly uidValidity: number;
  readonly uid: number;
}

interface CursorRow extends Row {
  uid_validity: number;
  uid: number;
}

/** The read position of each mailbox, in the control database. */
export class MailboxStore {
  readonly #reader: Reader;
  readonly #writer: Writer;

  constructor(reader: Reader, writer: Writer) {
    this.#reader = reader;
    this.#writer = writer;
  }

  /** Returns undefined for a mailbox that the gateway has never read. */
  async cursor(name: string): Promise<MailboxCursor | undefined> {
    const row = await this.#reader.read((tx) =>
      tx.get<CursorRow>('SELECT uid_validity, uid FROM mailbox WHERE name = ?', [name]),
    );
    return row && { uidValidity: row.uid_validity, uid: row.uid };
  }

  async move(name: string, { uidValidity, uid }: MailboxCursor, now: number): Promise<void> {
    await this.#writer.write((tx) =>
      tx.put(
        `INSERT INTO mailbox (name, uid_validity, uid, updated_at) VALUES (?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET uid_validity = excluded.uid_validity, uid = excluded.uid,
           updated_at = excluded.updated_at`,
        [name, uidValidity, uid, now],
      ),
    );
  }
}
