import type { WriteContext } from '../../kernel/context.ts';
import type { PolicySubject } from '../../rules/policy/subject.ts';
import { likeCalls } from '../../rules/requests/lasting.ts';
import { stoppedHint } from '../../rules/requests/request-state.ts';
import type { RequestRow } from '../../store/tables/people/requests.ts';
import { activeDecider } from '../channel/decider.ts';
import { judge, type Judgement } from './open.ts';

/**
 * The policy's verdict on a call, unless an answer to an earlier call of its thread still holds. A stop denies whatever
 * the policy says. An approval stands in for a person only where the same rule of the same policy would ask one person,
 * and only while whoever gave it may decide.
 */
export async function judgeInThread(
  context: WriteContext,
  subject: PolicySubject,
  { thread, isAnyones }: { readonly thread: string | undefined; readonly isAnyones: boolean },
): Promise<Judgement> {
  const judgement = await judge(context, subject);
  if (thread === undefined) return judgement;
  const { store, caller, now } = context;
  const answers = await store.threads.lasting({ keyId: caller.keyId, thread }, now);
  const stop = answers.find(({ status }) => status === 'denied');
  if (stop) {
    const rule = { id: `stop:${stop.id}`, effect: 'deny' } as const;
    const hint = stoppedHint(stop.lasts_until ?? now);
    return { ...judgement, effect: 'deny', rule, doubt: null, hint };
  }
  const { effect, doubt } = judgement;
  const isOnePersons = isAnyones && subject.amount === null && doubt === null;
  if (!isOnePersons || effect !== 'require_approval') return judgement;
  for (const answer of answers) {
    if (!isLike(answer, subject) || !(await isGiven(context, answer, judgement))) continue;
    const rule = { id: `hour:${answer.id}`, effect: 'auto_approve' } as const;
    return { ...judgement, effect: rule.effect, rule };
  }
  return judgement;
}

function isLike(answer: RequestRow, { action, risk, bind }: PolicySubject): boolean {
  const isSame = answer.action === action && answer.risk === risk && bind !== undefined;
  return isSame && likeCalls(answer)?.covers(bind) === true;
}

async function isGiven(
  { store }: WriteContext,
  { status, decided_by: by, policy_version: version, rule, kind }: RequestRow,
  judgement: Judgement,
): Promise<boolean> {
  if (status !== 'approved' || version !== judgement.version) return false;
  if (rule !== (judgement.rule?.id ?? null)) return false;
  const [, channelId = ''] = /^channel:(.*)$/.exec(by ?? '') ?? [];
  return (await activeDecider(store, channelId, kind as 'approval')) !== null;
}
