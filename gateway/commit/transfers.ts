import { ServiceError } from '../../shared/lib/errors.ts';
import { TRANSFER_MONTH_MAX_BYTES } from '../../shared/lib/limits.ts';
import type { Command } from './job.ts';

/** Bytes that links send in a calendar month (UTC), written `2026-01`. */
interface Transfer {
  readonly month: string;
  readonly bytes: number;
}

interface Reservation extends Transfer {
  /** So many more are taken where the month has room for them. */
  readonly ahead: number;
  /** Of what was reserved before: nobody has sent it. */
  readonly unspent: number;
}

/** Counts bytes before they are sent, and answers how many. QUOTA_EXCEEDED when the month has no room for those that are needed. */
export const reserveTransfer: Command<Reservation, number> = {
  async run({ store }, { month, bytes, ahead, unspent }) {
    const reserved = await store.disk.transferred(month);
    const limit = TRANSFER_MONTH_MAX_BYTES;
    const room = limit - reserved;
    if (bytes > room) {
      throw new ServiceError('QUOTA_EXCEEDED', {
        hint: 'Links of this project have sent what they may in a calendar month (UTC).',
        details: { kind: 'transfer', limit, used: reserved - unspent },
      });
    }
    const granted = Math.min(bytes + ahead, room);
    await store.disk.addTransfer(month, granted);
    return granted;
  },
};

/** Gives back what was reserved and not sent. */
export const refundTransfer: Command<Transfer, null> = {
  async run({ store }, { month, bytes }) {
    await store.disk.addTransfer(month, -bytes);
    return null;
  },
};
