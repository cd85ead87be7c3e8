const REASON = /^It has the Message-ID of evt_\w+, but another From, Date or Subject\./;

/** Why a mail under the Message-ID of an earlier one is dead. */
export function setAsideReason(earlierId: string): string {
  return `It has the Message-ID of ${earlierId}, but another From, Date or Subject. To take it in, requeue it.`;
}

/** Whether a reason is one of these, and not an agent's. */
export function isSetAsideReason(reason: string): boolean {
  return REASON.test(reason);
}
