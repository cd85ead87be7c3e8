import type { Clock } from '../shared/lib/clock.ts';
import type { Vault } from '../shared/kernel/context.ts';
import { ChatDirectory } from './approvals/chat-directory.ts';
import { MemberDirectory } from './auth/member-directory.ts';
import type { GatewayOptions } from './options.ts';
import type { Project } from './projects/project.ts';
import type { ControlStore } from './store/control-store.ts';

interface PeopleDeps {
  readonly control: ControlStore;
  readonly vault: Vault;
  readonly clock: Clock;
}

/** Finds the projects of people, by their address or their Telegram chat, without opening others. */
export interface People {
  readonly members: MemberDirectory;
  readonly chats: ChatDirectory;
  /** Takes over who the people of a project are now. */
  follow(project: Project): Promise<void>;
}

export function openPeople(
  { signIn, log }: Pick<GatewayOptions, 'signIn' | 'log'>,
  { control, vault, clock }: PeopleDeps,
): People {
  const members = new MemberDirectory(control.memberships, vault, { isUsed: signIn });
  const chats = new ChatDirectory({
    store: control.chats,
    vault,
    clock,
    onError: (project, error) => log.error({ err: error, project }, 'chats were not noted'),
  });
  return {
    members,
    chats,
    async follow(project) {
      await members.follow(project);
      await chats.follow(project);
    },
  };
}
