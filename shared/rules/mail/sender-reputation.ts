/** Messages sent lately, and the bounces and complaints about them. */
interface SendCounts {
  readonly sent: number;
  readonly bounced: number;
  readonly complained: number;
}

/** How many days count, including today. */
export const REPUTATION_DAYS = 7;

const BOUNCES_MIN = 10;
const BOUNCES_SHARE = 0.2;
const COMPLAINTS_MIN = 3;

/**
 * Why a project can't send any more, or null: too many of its recipients don't exist or don't want its mail. All
 * projects of a gateway send from one domain, and mail servers judge that domain, so a bad sender harms the others.
 */
export function reputationProblem({ sent, bounced, complained }: SendCounts): string | null {
  if (complained >= COMPLAINTS_MIN) return `${complained} recipients complained within a week`;
  if (bounced >= BOUNCES_MIN && bounced >= sent * BOUNCES_SHARE) {
    return `${bounced} messages bounced within a week, in which ${sent} were sent`;
  }
  return null;
}
