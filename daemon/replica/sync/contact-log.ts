import type { Logger } from 'pino';
import type { StatusBoard } from '../status-board.ts';

/** Logs when the gateway goes away, comes back or refuses the key: one line each, not one per attempt. */
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
    // In this state a gateway that isn't ready, or a proxy in front of it, may have answered: it isn't back yet.
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
