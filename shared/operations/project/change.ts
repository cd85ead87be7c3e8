import type { ServerInfo, WriteContext } from '../../kernel/context.ts';
import { invalid } from '../../lib/errors.ts';
import { askAbout } from '../member/ask-owners.ts';
import { applyProjectChange, type ProjectChange } from './apply.ts';

/** Refuses where a project has no owner who signs in. */
export function refuseOnOneMachine({ signsIn = false }: ServerInfo, instead: string): void {
  if (signsIn) return;
  throw invalid({
    path: 'name',
    message: `This project is on one machine and belongs to whoever uses it. ${instead}`,
  });
}

/**
 * Makes the change at once for an owner in their browser. A key asks the owners, even an owner's key, because an agent
 * may be using it; then returns the id of the request, or null if nobody can be asked.
 */
export async function changeOrAsk(
  context: WriteContext,
  change: ProjectChange,
  summary: string,
): Promise<{ readonly isDone: boolean; readonly requestId: string | null }> {
  const { caller, project } = context;
  if (caller.member?.role === 'owner') {
    await applyProjectChange(context, change);
    return { isDone: true, requestId: null };
  }
  const action = `project_${change.change}`;
  const requestId = await askAbout(context, project.id, { change, action, summary });
  return { isDone: false, requestId };
}
