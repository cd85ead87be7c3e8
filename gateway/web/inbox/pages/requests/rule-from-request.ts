import { stringifyExact } from '../../../../../shared/lib/json/exact-json.ts';
import { requestStatus } from '../../../../../shared/operations/request/status.ts';
import type { RequestRecord } from '../../../../../shared/operations/request/record.ts';
import { compilePolicy } from '../../../../../shared/rules/policy/decide.ts';
import type { PolicyRule } from '../../../../../shared/rules/policy/document.ts';
import {
  ruleForMailTo,
  ruleForSame,
  type RulePlacement,
} from '../../../../../shared/rules/policy/suggest.ts';
import { sentByRequest } from '../mail/mail-queries.ts';
import type { PageContext } from '../../page-context.ts';

/** The query field of the form for a new policy that names a request to approve without people from now on. */
export const FROM_REQUEST = 'from';

/** Whether a rule can be made of a request: one person approved a mail, or an action without a high risk. */
export function mayProposeFrom({ kind, status, risk, approvals, decided_by: by }: RequestRecord) {
  const isKnown = kind === 'approval' || kind === 'email_send';
  const isPlain = risk !== 'high' && approvals.needed === 1;
  return isKnown && isPlain && status === 'approved' && by !== null && by.startsWith('channel:');
}

/** The rule for what a request asked; null if there's none that would approve no more than that. */
export async function ruleFrom(
  context: PageContext,
  rules: readonly PolicyRule[],
  id: string,
): Promise<RulePlacement | null> {
  if (!/^req_[0-9a-z]{26}$/.test(id)) return null;
  const record = await context.call(requestStatus, { request_id: id });
  if (!mayProposeFrom(record)) return null;
  const policy = compilePolicy({ rules });
  if (record.kind === 'email_send') {
    const domains = await domainsOf(context, id);
    return domains.length === 0 ? null : ruleForMailTo(policy, domains);
  }
  const { action, amount, risk, status, hint, decided_by, approvals } = record;
  const bind = record.bind === null ? null : stringifyExact(record.bind);
  if (action === null) return null;
  const ended = { id, action, amount, risk, status, hint, decided_by, bind };
  return ruleForSame(policy, { ...ended, approvals: approvals.needed, ended_at: context.now });
}

async function domainsOf(context: PageContext, id: string): Promise<string[]> {
  const mail = await context.readOrNull(sentByRequest, { id });
  const all = (mail?.messages ?? []).map(({ to }) => to.slice(to.lastIndexOf('@') + 1));
  return [...new Set(all.map((domain) => domain.toLowerCase()))];
}
