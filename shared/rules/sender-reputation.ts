/** What was sent lately, and what came back of it. */
interface Reported {
  readonly sent: number;
  readonly bounced: number;
  readonly complained: number;
}

/** The days that count, today included. */
export const REPUTATION_DAYS = 7;

const BOUNCES_MIN = 10;
const BOUNCES_SHARE = 0.2;
const COMPLAINTS_MIN = 3;

/**
 * Why a project must not send any more, or null: too many of its recipients do not exist, or do not want its mail. Mail
 * servers judge the domain that all projects of a gateway send from, so one that goes on harms the others.
 */
export function reputationProblem({ sent, bounced, complained }: Reported): string | null {
  if (complained >= COMPLAINTS_MIN) return `${complained} recipients complained within a week`;
  if (bounced >= BOUNCES_MIN && bounced >= sent * BOUNCES_SHARE) {
    return `${bounced} messages bounced within a week, in which ${sent} were sent`;
  }
  return null;
}
