import { ServiceError } from '../../lib/errors.ts';
import type { PolicyDocument } from '../../rules/policy/document.ts';
import type { Repositories } from '../../store/repositories.ts';

/**
 * Throws CHANNEL_NOT_VERIFIED unless every approver is an active channel of this project. The owner replaces an
 * approver who is removed later.
 */
export async function refuseUnknownChannels(
  store: Repositories,
  { rules }: PolicyDocument,
): Promise<void> {
  for (const [index, { approvers = [] }] of rules.entries()) {
    for (const id of approvers) {
      const channel = await store.channels.find(id);
      if (channel?.status === 'active') continue;
      throw new ServiceError('CHANNEL_NOT_VERIFIED', {
        details: { approver: id, path: `rules[${index}].approvers` },
      });
    }
  }
}
