// Enhanced status codes of mail systems (RFC 3463): a class, a subject and a detail, such as `5.1.1`.

/** The recipient is unknown (section 3.2): no mail will ever reach it. */
const UNKNOWN: readonly string[] = ['5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10'];

/**
 * The mailbox is full (section 3.3), or it rejects this mail as too large (3.3, 3.4), unreadable (3.7) or unwelcome
 * (3.8).
 */
const OF_THIS_MAIL = /^5\.(?:2\.[23]|3\.4|6\.\d+|7\.\d+)$/;

/** Whether the status says that the address doesn't exist. */
export function isUnknownAddress(status: string | null): boolean {
  return status !== null && UNKNOWN.includes(status);
}

/** Whether another mail may still reach a recipient that bounced. Without a status, the answer is no. */
export function isPassing(status: string | null): boolean {
  return status !== null && (status.startsWith('4.') || OF_THIS_MAIL.test(status));
}
