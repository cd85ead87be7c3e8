import { pluralize } from '../../shared/lib/pluralize.ts';
import type { RequestView } from './approvals.ts';

/** `1 more approval` */
export function moreApprovals({ needed, given }: RequestView['approvals']): string {
  return pluralize(needed - given.length, 'more approval');
}

/** `1 more approval is needed.` */
export function moreNeeded(approvals: RequestView['approvals']): string {
  const { needed, given } = approvals;
  return `${moreApprovals(approvals)} ${needed - given.length === 1 ? 'is' : 'are'} needed.`;
}

/** `ana approved at 14:02 UTC and ben at 14:05 UTC`, with the given spelling of names and times; empty without any. */
export function approvedText(
  { given }: RequestView['approvals'],
  {
    name,
    time,
  }: { readonly name: (label: string) => string; readonly time: (at: number) => string },
): string {
  return given
    .map(({ label, at }, index) => {
      const before = index === 0 ? '' : index === given.length - 1 ? ' and ' : ', ';
      return `${before}${name(label)}${index === 0 ? ' approved' : ''} at ${time(at)}`;
    })
    .join('');
}
