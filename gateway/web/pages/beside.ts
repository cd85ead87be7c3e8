import type { PersonPlace } from '../../../shared/rules/actor.ts';
import type { ApprovalService } from '../../approvals/approvals.ts';
import { endsLasting, readMute, type Form } from './form.ts';

/** What a form does that decides nothing: whether the link still works; undefined for a form that decides. */
export async function besideDecision(
  approvals: ApprovalService,
  token: string,
  { form, place }: { readonly form: Form; readonly place: PersonPlace },
): Promise<boolean | undefined> {
  if (endsLasting(form)) return (await approvals.endLasting(token, place)) !== null;
  const isMuting = readMute(form);
  return isMuting === null ? undefined : (await approvals.mute(token, isMuting)) !== null;
}
