import type { Choice, Opened } from '../../lib/approvals.ts';
import { statusAt } from './copy.ts';

/** What lets an agent go on where the risk is high. An option that is not there need not be confirmed to be refused. */
export function needsSecondStep(opened: Opened, choice: Choice): boolean {
  const { request, now } = opened;
  if (request.risk !== 'high' || statusAt(request, now) !== 'pending') return false;
  if (choice.verb === 'option') return request.options[choice.index] !== undefined;
  return choice.verb === 'approve';
}
