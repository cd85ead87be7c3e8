import type { Clock } from '../../shared/lib/clock.ts';
import type { Vault } from '../../shared/kernel/context.ts';
import { noticeAad } from '../../shared/operations/request/notify.ts';
import { texts } from '../../shared/operations/request/record.ts';
import type { RequestKind } from '../../shared/rules/requests/request-state.ts';
import { mayDecide } from '../../shared/rules/roles.ts';
import type { Repositories } from '../../shared/store/repositories.ts';
import type { RequestRow } from '../../shared/store/tables/people/requests.ts';
import type { Project } from '../projects/project.ts';
import type { OpenedRequest } from './approvals.ts';
import { openedFor } from './view.ts';

interface OwnerApprovalsDeps {
  readonly vault: Vault;
  readonly clock: Clock;
}

/** A request as a person sees it who opened it without its link. */
export interface Overseen {
  /** `channel` lists everyone who was asked. */
  readonly opened: OpenedRequest;
  /** Decides as the visitor's channel; null if that channel wasn't asked. The token never leaves this process. */
  readonly token: string | null;
}

/** A key that a person has muted. */
export interface MutedKey {
  readonly keyId: string;
  readonly name: string;
  readonly until: number;
}

/**
 * Opens requests by id, for people who may see the whole project. To decide, it uses the token that their own channel
 * was sent.
 */
export class OwnerApprovals {
  readonly #deps: OwnerApprovalsDeps;

  constructor(deps: OwnerApprovalsDeps) {
    this.#deps = deps;
  }

  /** Null if the project has no such request. `channelId`: the visitor's; null if they have none. */
  find(project: Project, requestId: string, channelId: string | null): Promise<Overseen | null> {
    const now = this.#deps.clock.now();
    return project.store.read(async (store) => {
      const row = await store.requests.find(requestId);
      if (!row) return null;
      const channel = { id: '', label: await askedOf(store, row) };
      const voterId = channelId ?? (await store.channels.owner())?.id;
      const token = await this.#tokenOf(store, project.info.id, { row, channelId });
      const vault = token === null ? null : this.#deps.vault;
      const opened = await openedFor(store, project.info, { row, channel, now, voterId, vault });
      return { opened, token };
    });
  }

  /** The keys that the visitor muted for their own channel, the first to end first. */
  muted(project: Project, channelId: string | null): Promise<MutedKey[]> {
    const now = this.#deps.clock.now();
    return project.store.read(async ({ keys, noticeBudgets }) => {
      const mutes = channelId === null ? [] : await noticeBudgets.mutesOf(channelId, now);
      return Promise.all(
        mutes.map(async ({ keyId, until }) => {
          const name = (await keys.find(keyId))?.name ?? keyId;
          return { keyId, name, until };
        }),
      );
    });
  }

  /** The channel gets messages from a key again. */
  async unmute(project: Project, channelId: string, keyId: string): Promise<void> {
    const now = this.#deps.clock.now();
    await project.writes.run('muteKey', { channelId, keyId, until: null, now });
  }

  /** An owner says whose a channel is: see the command. */
  async sayWhose(
    project: Project,
    said: { readonly channelId: string; readonly personOf: string | null; readonly by: string },
  ): Promise<boolean> {
    return project.writes.run('sayWhose', { ...said, now: this.#deps.clock.now() });
  }

  async #tokenOf(
    store: Repositories,
    projectId: string,
    { row, channelId }: { readonly row: RequestRow; readonly channelId: string | null },
  ): Promise<string | null> {
    const channel = channelId === null ? undefined : await store.channels.find(channelId);
    if (channel?.status !== 'active') return null;
    const role = (await store.members.findByChannel(channel.id))?.role ?? null;
    if (!mayDecide(role, row.kind as RequestKind)) return null;
    const notices = await store.notices.ofRequest(row.id);
    const asking = notices.findLast(
      ({ kind, channel_id, token }) =>
        kind === 'ask' && channel_id === channel.id && token !== null,
    );
    if (!asking?.token) return null;
    const aad = noticeAad(projectId, asking.id);
    return Buffer.from(this.#deps.vault.open(aad, asking.token)).toString('utf8');
  }
}

async function askedOf(store: Repositories, { approvers }: RequestRow): Promise<string> {
  const labels = await Promise.all(
    texts(approvers).map(async (id) => (await store.channels.findEver(id))?.label),
  );
  return labels.filter((label) => label !== undefined).join(', ') || 'nobody';
}
