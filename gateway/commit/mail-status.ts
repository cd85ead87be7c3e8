// Enhanced status codes of mail systems (RFC 3463): a class, a subject and a detail, such as `5.1.1`.

/** Of a recipient that no server knows (section 3.2): no mail will ever reach it. */
const UNKNOWN: readonly string[] = ['5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10'];

/** Of a mailbox that is full (section 3.3), and of mails that are too large (3.3, 3.4), unreadable (3.7) or unwelcome (3.8). */
const OF_THIS_MAIL = /^5\.(?:2\.[23]|3\.4|6\.\d+|7\.\d+)$/;

/** Whether a refusal says that there is nobody behind the address. */
export function isUnknownAddress(status: string | null): boolean {
  return status !== null && UNKNOWN.includes(status);
}

/** Whether another mail may reach the recipient of one that bounced. Where nothing is said, none will. */
export function isPassing(status: string | null): boolean {
  return status !== null && (status.startsWith('4.') || OF_THIS_MAIL.test(status));
}
