import type { Clock } from '../../shared/lib/clock.ts';
import type { BackgroundTask } from '../lib/background-task.ts';
import type { Vault } from '../../shared/kernel/context.ts';
import { chatOf } from './telegram-chat.ts';
import type { Project } from '../projects/project.ts';
import type { MemberFollower } from '../projects/member-follower.ts';
import type { ChatRow, ChatStore } from '../store/control/chats.ts';

/** The additional data that seals a chat in the control database. */
export function chatAad(projectId: string): string {
  return `telegram_chat|${projectId}|chat`;
}

/** The text that we sign to find the projects of a chat. */
export function chatHashText(chatId: string): string {
  return `telegram_chat|1|${chatId}`;
}

interface ChatDirectoryDeps {
  readonly store: Pick<ChatStore, 'add' | 'projectsOf' | 'unnoted' | 'replace'>;
  readonly vault: Vault;
  readonly clock: Clock;
  /** Gets a project whose chats could not be read; null if the control database couldn't. */
  readonly onError: (projectId: string | null, error: unknown) => void;
}

/** The projects of a chat, and whether there may be more in projects that we haven't searched yet. */
interface ChatProjects {
  readonly projectIds: readonly string[];
  readonly isComplete: boolean;
}

/** Opens a project; null if it no longer exists. */
interface Opener {
  find(projectId: string): Promise<{ readonly members: Pick<MemberFollower, 'run'> } | null>;
}

/** Finds the projects of a Telegram chat without opening any, from rows that follow the projects' own. */
export class ChatDirectory {
  readonly #deps: ChatDirectoryDeps;
  /** Projects that couldn't be read; whoever opens them next notes their chats. */
  readonly #unreadable = new Set<string>();
  #ending = new AbortController();
  /** The update that is running; it never rejects. */
  #noting: Promise<void> | null = null;

  constructor(deps: ChatDirectoryDeps) {
    this.#deps = deps;
  }

  /** Before the channel is confirmed, so that after a crash the chat is found too. */
  async add(projectId: string, chatId: number): Promise<void> {
    await this.#deps.store.add(projectId, this.#row(projectId, chatId));
  }

  async projectsOf(chatId: number): Promise<ChatProjects> {
    const { store, vault } = this.#deps;
    const projectIds = await store.projectsOf(vault.sign(chatHashText(String(chatId))));
    return { projectIds, isComplete: (await this.#unnoted()).length === 0 };
  }

  /** Takes over which chats are channels now. */
  async follow({ info, store }: Pick<Project, 'info' | 'store'>): Promise<void> {
    const channels = await store.read((repositories) => repositories.channels.list());
    const rows = channels.flatMap((channel) => {
      const chat = chatOf(this.#deps.vault, info.id, channel);
      return chat ? [this.#row(info.id, chat.chatId)] : [];
    });
    await this.#deps.store.replace(info.id, rows, this.#deps.clock.now());
  }

  /** What an earlier release left is noted by one gateway when it starts. */
  noting(projects: Opener): BackgroundTask {
    return {
      name: 'chats',
      start: async () => this.noteRest(projects),
      stop: async () => {
        this.#ending.abort();
        await this.#noting;
        // A gateway that no longer holds the task still notes what a message needs.
        this.#ending = new AbortController();
      },
    };
  }

  /**
   * Looks once into each project whose chats nobody has noted, one after the other, in the background. Called again
   * when a message finds some left: a project was imported since, or an earlier look failed.
   */
  noteRest(projects: Opener): void {
    this.#noting ??= this.#noteAll(projects, this.#ending.signal)
      .catch((error: unknown) => this.#deps.onError(null, error))
      .finally(() => {
        this.#noting = null;
      });
  }

  async #noteAll(projects: Opener, signal: AbortSignal): Promise<void> {
    for (const id of await this.#unnoted()) {
      if (signal.aborted) return;
      try {
        // The opening notes them.
        await (await projects.find(id))?.members.run();
      } catch (error) {
        this.#unreadable.add(id);
        this.#deps.onError(id, error);
      }
    }
  }

  async #unnoted(): Promise<string[]> {
    return (await this.#deps.store.unnoted()).filter((id) => !this.#unreadable.has(id));
  }

  #row(projectId: string, chatId: number): ChatRow {
    const { vault, clock } = this.#deps;
    const chat = String(chatId);
    return {
      chat_hash: vault.sign(chatHashText(chat)),
      chat: vault.seal(chatAad(projectId), chat),
      added_at: clock.now(),
    };
  }
}
