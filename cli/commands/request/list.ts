import { quorumOf } from '../../approvals/quorum.ts';
import { showing } from '../../call/operation-command.ts';
import { table } from '../../view/table.ts';

/** `svc request list`: with the event of each request, and the approvals it has, where there are any. */
export const run = showing<'request_list'>(({ items: requests }) => {
  const hasEvents = requests.some((request) => request.event_id);
  const hasQuorums = requests.some((request) => quorumOf(request) !== null);
  if (!hasEvents && !hasQuorums) return {};
  const columns = [
    'request_id',
    'status',
    'summary',
    ...(hasQuorums ? ['approvals'] : []),
    hasEvents ? 'event_id' : 'kind',
    'created_at',
  ];
  const rows = requests.map((one) => ({ ...one, approvals: quorumOf(one)?.progress }));
  return { lines: (look) => table(rows, columns, look) };
});
