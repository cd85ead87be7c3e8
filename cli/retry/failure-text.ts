import type { SvcError } from '../../clients/typescript/core/errors.ts';

const GATEWAY_AWAY = "The gateway can't be reached";
const DAEMON_AWAY = "The daemon can't be reached";

/** Why the call failed, as the start of a sentence. */
export function failureText(error: SvcError, hasGateway: boolean): string {
  const { code, details, message, status } = error;
  if (details?.['gateway'] !== undefined || code.startsWith('HTTP_5')) return GATEWAY_AWAY;
  if (status === 0 && code === 'UNREACHABLE') return hasGateway ? GATEWAY_AWAY : DAEMON_AWAY;
  return message.replace(/\.$/, '');
}
