import { keptSince } from '../../../rules/inbox/retention.ts';
import type { Row, Tx } from '../../engine/driver.ts';

/** A file that came with a mail. */
export interface EventFileRow extends Row {
  /** Empty for the mail's HTML. */
  name: string;
  digest: string;
  size_bytes: number;
  content_type: string;
}

/** A file that was looked up by its path. */
interface FoundEventFile extends EventFileRow {
  received_at: string;
}

/** The mail's HTML is stored like an attachment; real attachments always have names. */
export const HTML_NAME = '';

const SELECT = `SELECT f.name, f.digest, f.size_bytes, f.content_type, e.received_at
  FROM event e JOIN event_file f ON f.event_seq = e.seq WHERE e.id = ? AND e.received_at >= ?`;

/** Files that came with mails; each goes when its event's payload is purged. */
export class EventFileRepository {
  readonly #tx: Tx;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  async insert(seq: number, file: EventFileRow): Promise<void> {
    await this.#tx.put(
      'INSERT INTO event_file (event_seq, name, digest, size_bytes, content_type) VALUES (?, ?, ?, ?, ?)',
      [seq, file.name, file.digest, file.size_bytes, file.content_type],
    );
  }

  find(eventId: string, name: string, now: number): Promise<FoundEventFile | undefined> {
    const params = [eventId, keptSince(now), name];
    return this.#tx.get<FoundEventFile>(`${SELECT} AND f.name = ?`, params);
  }

  /** An event's attachments, sorted by name. */
  list(eventId: string, now: number): Promise<FoundEventFile[]> {
    const params = [eventId, keptSince(now)];
    return this.#tx.all<FoundEventFile>(`${SELECT} AND f.name <> '' ORDER BY f.name`, params);
  }
}
