import type { Reader, Row, Writer } from '../../../shared/store/engine/driver.ts';

/** Somebody who may sign in although sign-up is closed. */
export interface InvitationRow extends Row {
  id: string;
  mailbox_hash: string;
  /** Sealed. */
  address: Uint8Array;
  created_at: string;
}

/** Invitations to the gateway, in the control database. The first sign-in uses one up. */
export class InvitationStore {
  readonly #reader: Reader;
  readonly #writer: Writer;

  constructor(reader: Reader, writer: Writer) {
    this.#reader = reader;
    this.#writer = writer;
  }

  /** Whether it was new, and whether its mailbox has an account already, which needs none unless it is a guest's. */
  add(invitation: InvitationRow): Promise<'added' | 'invited_already' | 'has_account'> {
    return this.#writer.write(async (tx) => {
      const { id, mailbox_hash, address, created_at } = invitation;
      const account = await tx.get(
        'SELECT 1 AS found FROM account WHERE mailbox_hash = ? AND is_guest = 0',
        [mailbox_hash],
      );
      if (account) return 'has_account';
      const known = await tx.get('SELECT 1 AS found FROM invitation WHERE mailbox_hash = ?', [
        mailbox_hash,
      ]);
      if (known) return 'invited_already';
      await tx.put(
        'INSERT INTO invitation (id, mailbox_hash, address, created_at) VALUES (?, ?, ?, ?)',
        [id, mailbox_hash, address, created_at],
      );
      return 'added';
    });
  }

  /** Whether there was one. */
  remove(mailboxHash: string): Promise<boolean> {
    return this.#writer.write(async (tx) => {
      const removed = await tx.run('DELETE FROM invitation WHERE mailbox_hash = ?', [mailboxHash]);
      return removed > 0;
    });
  }

  /** The oldest first. */
  all(): Promise<InvitationRow[]> {
    return this.#reader.read((tx) =>
      tx.all<InvitationRow>(
        'SELECT id, mailbox_hash, address, created_at FROM invitation ORDER BY created_at, id',
      ),
    );
  }
}
