import { ServiceError } from '../../shared/errors.ts';
import { TRANSFER_MONTH_MAX_BYTES } from '../../shared/limits.ts';
import type { Procedure } from './job.ts';

/** Bytes that links send in a calendar month (UTC), written `2026-01`. */
interface Transfer {
  readonly month: string;
  readonly bytes: number;
}

/** Counts bytes that are about to be sent. QUOTA_EXCEEDED when the month has no room for all of them. */
export const reserveTransfer: Procedure<Transfer, null> = {
  async run({ store }, { month, bytes }) {
    const used = await store.disk.transferred(month);
    const limit = TRANSFER_MONTH_MAX_BYTES;
    if (used + bytes > limit) {
      throw new ServiceError('QUOTA_EXCEEDED', {
        hint: 'Links of this project have sent what they may in a calendar month (UTC).',
        details: { kind: 'transfer', limit, used },
      });
    }
    await store.disk.addTransfer(month, bytes);
    return null;
  },
};

/** Gives back what was reserved and not sent. */
export const refundTransfer: Procedure<Transfer, null> = {
  async run({ store }, { month, bytes }) {
    await store.disk.addTransfer(month, -bytes);
    return null;
  },
};
