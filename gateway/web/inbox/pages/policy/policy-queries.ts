import { parseExact } from '../../../../../shared/lib/json/exact-json.ts';
import type { RequestRecord } from '../../../../../shared/operations/request/record.ts';
import type { PolicyRisk } from '../../../../../shared/rules/policy/document.ts';
import type { PolicySubject } from '../../../../../shared/rules/policy/subject.ts';
import type { Repositories } from '../../../../../shared/store/repositories.ts';
import { pageRead } from '../../page-read.ts';
import { recordFor } from '../requests/request-queries.ts';

/** How many past requests a policy is tried on. */
const PAST_MAX = 50;
/** How many requests are read for them: some are of kinds that no policy decides. */
const READ_MAX = 100;

/** A past request that a policy decides on, as it was judged then. */
export interface PastRequest {
  readonly record: RequestRecord;
  readonly subject: PolicySubject;
}

/** The newest requests that a policy can decide on, newest first. */
export const pastRequests = pageRead(
  'approvals',
  {},
  async (context): Promise<readonly PastRequest[]> => {
    const { store, now } = context;
    const wanted = { status: undefined, beforeId: undefined, limit: READ_MAX, now };
    const rows = (await store.requests.page(wanted))
      .filter(({ kind }) => toolOf(kind) !== null)
      .slice(0, PAST_MAX);
    return Promise.all(
      rows.map(async (row) => {
        const { kind, action, amount, risk } = row;
        const tool = toolOf(kind) ?? 'ask_approval';
        const isOwn = tool === 'ask_approval';
        const subject = {
          tool,
          action: isOwn ? action : null,
          amount: isOwn ? amount : null,
          ...(isOwn && row.bind !== null && { bind: parseExact(row.bind) }),
          risk: risk as PolicyRisk | null,
          recipientDomains: tool === 'email_send' ? await domainsOf(store, row.id) : null,
        };
        return { record: await recordFor(context, row), subject };
      }),
    );
  },
);

function toolOf(kind: string): PolicySubject['tool'] | null {
  if (kind === 'approval') return 'ask_approval';
  return kind === 'file_url' || kind === 'email_send' ? kind : null;
}

async function domainsOf({ emails }: Repositories, requestId: string): Promise<string[]> {
  const batch = await emails.findByRequest(requestId);
  const messages = batch ? await emails.messagesOf(batch.id) : [];
  const domains = messages.map(({ recipient }) => recipient.slice(recipient.lastIndexOf('@') + 1));
  return [...new Set(domains.map((domain) => domain.toLowerCase()))];
}
