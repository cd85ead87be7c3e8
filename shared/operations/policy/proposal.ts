import { isoTime } from '../../lib/clock.ts';
import type { ApprovalContext } from '../../kernel/context.ts';
import { compilePolicy, type CompiledPolicy } from '../../rules/policy/decide.ts';
import { parsePolicy, type PolicyDocument } from '../../rules/policy/document.ts';
import type { Repositories } from '../../store/repositories.ts';
import type { PolicyRow } from '../../store/policies.ts';
import type { RequestRow } from '../../store/requests.ts';

/** What an approval of a policy applies, and against which version it was proposed. */
export interface PolicyProposal {
  readonly rules: PolicyDocument['rules'];
  readonly note: string | null;
  readonly baseVersion: number;
}

/** The policy that holds. Version 0 is none: every request goes to a person. */
export interface CurrentPolicy {
  readonly version: number;
  readonly document: PolicyDocument;
  readonly note: string | null;
  readonly approvedBy: string | null;
  readonly approvedAt: string | null;
}

export async function currentPolicy(store: Repositories): Promise<CurrentPolicy> {
  const row = await store.policies.current();
  if (!row) {
    return { version: 0, document: { rules: [] }, note: null, approvedBy: null, approvedAt: null };
  }
  return {
    version: row.version,
    document: documentOf(row),
    note: row.note,
    approvedBy: row.approved_by,
    approvedAt: row.approved_at,
  };
}

/** The policy that held as this version. */
export async function policyAt(store: Repositories, version: number): Promise<PolicyDocument> {
  return documentOf(await store.policies.find(version));
}

function documentOf(row: PolicyRow | undefined): PolicyDocument {
  return parsePolicy({ rules: JSON.parse(row?.rules ?? '[]') as unknown });
}

/** The last policies that decided, by the text of their rules: made ready once. */
const compiled = new Map<string, CompiledPolicy>();
const COMPILED_MAX = 64;

/** The policy that holds, ready to decide by. */
export async function compiledPolicy(
  store: Repositories,
): Promise<{ readonly version: number; readonly policy: CompiledPolicy }> {
  const row = await store.policies.current();
  const text = row?.rules ?? '[]';
  let policy = compiled.get(text);
  if (!policy) {
    policy = compilePolicy(documentOf(row));
    const oldest = compiled.keys().next().value;
    if (compiled.size >= COMPILED_MAX && oldest !== undefined) compiled.delete(oldest);
    compiled.set(text, policy);
  }
  return { version: row?.version ?? 0, policy };
}

export function proposalOf(request: RequestRow): PolicyProposal {
  return JSON.parse(request.proposal ?? '{}') as PolicyProposal;
}

/** Whether another policy was approved since this one was proposed. */
export async function isSuperseded(
  { store }: Pick<ApprovalContext, 'store'>,
  request: RequestRow,
): Promise<boolean> {
  const current = await store.policies.current();
  return (current?.version ?? 0) !== proposalOf(request).baseVersion;
}

/** Makes an approved proposal the policy that holds. */
export async function applyPolicy(
  { store, now, recordService }: Pick<ApprovalContext, 'store' | 'now' | 'recordService'>,
  request: RequestRow,
): Promise<void> {
  const { rules, note, baseVersion } = proposalOf(request);
  await store.policies.insert({
    version: baseVersion + 1,
    rules: JSON.stringify(rules),
    note,
    request_id: request.id,
    approved_by: request.decided_by,
    approved_at: isoTime(now),
  });
  await recordService('policy.applied', request.id);
}
