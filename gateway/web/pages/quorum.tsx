import type { JSX } from 'hono/jsx/jsx-runtime';
import type { OpenedRequest } from '../../approvals/approvals.ts';
import { AgentText, Time } from './request-copy.tsx';

/** How many people must approve, and who did: `Needs 2 approvals; ana approved at 14:02:05 UTC.` */
export function QuorumLine({ opened }: { readonly opened: OpenedRequest }): JSX.Element | null {
  const { request, now } = opened;
  const { needed, given } = request.approvals;
  if (needed === 1) return null;
  const last = given.length - 1;
  return (
    <p>
      {request.status === 'pending' ? 'Needs' : 'Needed'} {needed} approvals
      {given.map(({ label, at }, index) => (
        <>
          {index === 0 ? '; ' : index === last ? ' and ' : ', '}
          <AgentText text={label} reading="line" />
          {index === 0 && ' approved'} at <Time at={at} now={now} />
        </>
      ))}
      .
    </p>
  );
}
