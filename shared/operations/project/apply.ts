import type { ApprovalContext } from '../../kernel/context.ts';
import { isoTime } from '../../lib/clock.ts';
import { endKeyAlone } from '../access/end.ts';

/** What an owner is asked to allow about the project itself, in the proposal of a request of kind `member`. */
export type ProjectChange =
  | { readonly change: 'rename'; readonly name: string }
  | { readonly change: 'delete' };

/** The row of `meta` that has the project's name once it was renamed. */
const NAME = 'project_name';
/** The row of `meta` that says that the project is being deleted. */
const DELETED = 'project_deleted';

type Meta = ApprovalContext['store']['meta'];

/** The project's name as of this transaction: what the gateway remembers may be older. */
export async function currentName({
  store,
  project,
}: Pick<ApprovalContext, 'store' | 'project'>): Promise<string> {
  return (await renamedTo(store)) ?? project.name;
}

/** The name that the project was given last; null if it still has its first one. */
export async function renamedTo({ meta }: { readonly meta: Meta }): Promise<string | null> {
  const name = await meta.get(NAME);
  return typeof name === 'string' ? name : null;
}

/** Whether an owner has deleted the project. What is left of it must go. */
export async function isDeleted({ meta }: { readonly meta: Meta }): Promise<boolean> {
  return (await meta.get(DELETED)) !== undefined;
}

/** Does what an owner wants or has allowed; the gateway follows once this is durable. */
export async function applyProjectChange(
  context: ApprovalContext,
  change: ProjectChange,
): Promise<void> {
  const { store, project, emit, record } = context;
  if (change.change === 'rename') {
    await store.meta.set(NAME, change.name);
    await record('project.renamed', project.id, { name: change.name });
  } else {
    await store.meta.set(DELETED, context.now);
    // So everyone learns it at once, at every gateway: waits and streams end with their key.
    for (const key of await store.keys.active(isoTime(context.now)))
      await endKeyAlone(context, key.id);
    await record('project.deleted', project.id);
  }
  emit({ kind: 'project_changed' });
}
