import { isoTime } from '../../lib/clock.ts';
import type { ApprovalContext } from '../../kernel/context.ts';
import { compilePolicy, type CompiledPolicy } from '../../rules/policy/decide.ts';
import { parsePolicy, type PolicyDocument } from '../../rules/policy/document.ts';
import type { Repositories } from '../../store/repositories.ts';
import type { PolicyRow } from '../../store/tables/people/policies.ts';
import type { RequestRow } from '../../store/tables/people/requests.ts';

/** What an approved proposal applies, and the version it was based on. */
export interface PolicyProposal {
  readonly rules: PolicyDocument['rules'];
  readonly note: string | null;
  readonly baseVersion: number;
}

/** The policy in force. Version 0 means that there is no policy: a person decides every request. */
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

/** The policy of this version. */
export async function policyAt(store: Repositories, version: number): Promise<PolicyDocument> {
  return documentOf(await store.policies.find(version));
}

function documentOf(row: PolicyRow | undefined): PolicyDocument {
  return parsePolicy({ rules: JSON.parse(row?.rules ?? '[]') as unknown });
}

/** The last COMPILED_MAX policies by the text of their rules, so that we compile each once. */
const compiled = new Map<string, CompiledPolicy>();
const COMPILED_MAX = 64;

/** The policy in force, compiled. */
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

/** True if another policy was approved since this one was proposed. */
export async function isSuperseded(
  { store }: Pick<ApprovalContext, 'store'>,
  request: RequestRow,
): Promise<boolean> {
  const current = await store.policies.current();
  return (current?.version ?? 0) !== proposalOf(request).baseVersion;
}

/** Puts an approved proposal in force. */
export async function applyPolicy(
  { store, now, record }: Pick<ApprovalContext, 'store' | 'now' | 'record'>,
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
  await record('policy.applied', request.id);
}
