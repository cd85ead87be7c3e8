import { ServiceError } from '../../../../shared/lib/errors.ts';
import { TRANSFER_MONTH_MAX_BYTES } from '../../../../shared/lib/limits.ts';
import type { Command } from '../../context/job.ts';

/** Bytes that links send in a calendar month (UTC); `month` looks like `2026-01`. */
interface Transfer {
  readonly month: string;
  readonly bytes: number;
}

interface Reservation extends Transfer {
  /** How many more bytes to reserve if the month has room. */
  readonly ahead: number;
  /** The part of earlier reservations that is still unsent. */
  readonly unspent: number;
}

/** Reserves bytes before they are sent; returns how many. QUOTA_EXCEEDED if the month has no room for `bytes`. */
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

/** Returns reserved bytes that were not sent. */
export const refundTransfer: Command<Transfer, null> = {
  async run({ store }, { month, bytes }) {
    await store.disk.addTransfer(month, -bytes);
    return null;
  },
};
