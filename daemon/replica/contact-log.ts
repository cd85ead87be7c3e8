import type { Logger } from 'pino';
import type { StatusBoard } from './status-board.ts';

/** Writes a line to the log when the gateway is lost, is back, and when it refuses the key; not for each attempt. */
export function logContact(
  board: Pick<StatusBoard, 'shown' | 'onChange'>,
  gateway: string,
  log: Logger,
): void {
  let isLost = false;
  let isRefused = false;
  board.onChange(() => {
    const { state, detail, code } = board.shown;
    if (state === 'offline') {
      if (!isLost) log.warn({ gateway, detail }, 'replica: lost the gateway');
      isLost = true;
      return;
    }
    // A gateway that cannot answer yet, or whoever stands before it, is not back.
    if (state === 'connecting') return;
    if (isLost) log.info({ gateway }, 'replica: the gateway is back');
    isLost = false;
    const refuses = state === 'refused';
    if (refuses && !isRefused) {
      log.warn({ gateway, code, detail }, 'replica: the gateway refuses the key');
    }
    isRefused = refuses;
  });
}
