import type { Choice, OpenedRequest } from '../../approvals/approvals.ts';
import { statusAt } from './copy.ts';

/**
 * Whether a choice would let an agent go ahead with a high risk. An option that doesn't exist is refused anyway, so it
 * needs no confirmation.
 */
export function needsSecondStep(opened: OpenedRequest, choice: Choice): boolean {
  const { request, now } = opened;
  if (request.risk !== 'high' || statusAt(request, now) !== 'pending') return false;
  if (choice.verb === 'option') return request.options[choice.index] !== undefined;
  return choice.verb === 'approve';
}
