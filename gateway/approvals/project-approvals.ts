import { hash } from 'node:crypto';
import type { Clock } from '../../shared/lib/clock.ts';
import type { Vault } from '../../shared/kernel/context.ts';
import { ServiceError } from '../../shared/lib/errors.ts';
import { parseToken } from '../../shared/lib/ids.ts';
import { chatOf } from './telegram-chat.ts';
import { noticeAad } from '../../shared/operations/request/notify.ts';
import { MUTE_MS } from '../../shared/rules/requests/notice-budget.ts';
import type { PersonPlace } from '../../shared/rules/actor.ts';
import type { ChannelRow } from '../../shared/store/tables/people/channels.ts';
import type { NoticeRow } from '../../shared/store/tables/people/notices.ts';
import type { Repositories } from '../../shared/store/repositories.ts';
import type { Project } from '../projects/project.ts';
import type { Projects } from '../projects/projects.ts';
import type {
  ChannelView,
  Choice,
  DecisionOutcome,
  ApprovalService,
  OpenedRequest,
} from './approvals.ts';
import type { TelegramChat } from '../commit/commands/people/channels.ts';
import type { ChatDirectory } from './chat-directory.ts';
import { channelViewFor, openedFor } from './view.ts';

interface ProjectApprovalsDeps {
  readonly projects: Projects;
  readonly chats: ChatDirectory;
  readonly vault: Vault;
  readonly clock: Clock;
}

/** A notification of a request, found by its link's token, and the channel that received it. */
interface LinkedNotice {
  readonly project: Project;
  readonly notice: NoticeRow;
  readonly channel: ChannelRow;
}

/** Takes decisions of people: links in mails, and buttons in Telegram. */
export class ProjectApprovals implements ApprovalService {
  readonly #deps: ProjectApprovalsDeps;

  constructor(deps: ProjectApprovalsDeps) {
    this.#deps = deps;
  }

  async open(token: string): Promise<OpenedRequest | null> {
    const held = await this.#hold(token);
    return held && this.#opened(held);
  }

  async decide(
    token: string,
    choice: Choice,
    place: PersonPlace = 'link',
  ): Promise<DecisionOutcome | null> {
    const held = await this.#hold(token);
    if (!held) return null;
    const now = this.#deps.clock.now();
    const decision = { tokenHash: hash('sha256', token), choice, place, now };
    const done = await held.project.writes.run('decide', decision);
    if (done.outcome === 'gone') return null;
    const opened = await this.#opened(held);
    if (!opened) return null;
    return done.outcome === 'refused'
      ? { outcome: 'refused', opened, problem: done.problem }
      : { outcome: done.outcome, opened };
  }

  async mute(token: string, isOn: boolean): Promise<OpenedRequest | null> {
    const held = await this.#hold(token);
    const opened = held && (await this.#opened(held));
    if (!held || !opened) return null;
    const now = this.#deps.clock.now();
    const until = isOn ? now + MUTE_MS : null;
    const of = { channelId: held.channel.id, keyId: opened.request.keyId };
    await held.project.writes.run('muteKey', { ...of, until, now });
    return this.#opened(held);
  }

  async endLasting(token: string, place: PersonPlace = 'link'): Promise<OpenedRequest | null> {
    const held = await this.#hold(token);
    if (!held) return null;
    const end = { tokenHash: hash('sha256', token), place, now: this.#deps.clock.now() };
    return (await held.project.writes.run('endLasting', end)) ? this.#opened(held) : null;
  }

  async openChannel(token: string): Promise<ChannelView | null> {
    const project = await this.#projectOf(token);
    if (!project) return null;
    const channel = await project.store.read((store) => this.#channelOf(store, token));
    return channel?.kind === 'email' ? channelViewFor(channel, project.info) : null;
  }

  verifyEmail(token: string): Promise<ChannelView | null> {
    return this.#confirm(token, null);
  }

  startTelegram(token: string, chat: TelegramChat): Promise<ChannelView | null> {
    return this.#confirm(token, chat);
  }

  async isTelegram(
    token: string,
    { chatId, userId }: { chatId: number; userId: number },
  ): Promise<boolean> {
    const held = await this.#hold(token);
    if (held?.channel.kind !== 'telegram') return false;
    const chat = this.#chatOf(held.project, held.channel);
    return chat?.chatId === chatId && chat.userId === userId;
  }

  async tokenOfMessage(chatId: number, messageId: number): Promise<string | null> {
    const { projectIds, isComplete } = await this.#deps.chats.projectsOf(chatId);
    for (const id of projectIds) {
      const project = await this.#deps.projects.find(id);
      const token = project && (await this.#tokenIn(project, chatId, String(messageId)));
      if (token) return token;
    }
    if (isComplete) return null;
    this.#deps.chats.noteRest(this.#deps.projects);
    throw new ServiceError('UNAVAILABLE', { details: { retry_after: 5 } });
  }

  async #tokenIn(project: Project, chatId: number, messageId: string): Promise<string | null> {
    const { vault } = this.#deps;
    return project.store.read(async (store) => {
      for (const channel of await store.channels.list()) {
        if (this.#chatOf(project, channel)?.chatId !== chatId) continue;
        const notice = await store.notices.findByMessage(channel.id, messageId);
        if (!notice?.token) continue;
        const aad = noticeAad(project.info.id, notice.id);
        return Buffer.from(vault.open(aad, notice.token)).toString('utf8');
      }
      return null;
    });
  }

  async #projectOf(token: string): Promise<Project | null> {
    const parsed = parseToken(token);
    return parsed && this.#deps.projects.find(parsed.projectId);
  }

  async #hold(token: string): Promise<LinkedNotice | null> {
    const project = await this.#projectOf(token);
    if (!project) return null;
    return project.store.read(async (store) => {
      const notice = await store.notices.findByToken(hash('sha256', token));
      if (!notice) return null;
      const channel = await store.channels.find(notice.channel_id);
      return channel?.status === 'active' ? { project, notice, channel } : null;
    });
  }

  #opened({ project, notice, channel }: LinkedNotice): Promise<OpenedRequest | null> {
    const { clock, vault } = this.#deps;
    const now = clock.now();
    return project.store.read(async (store) => {
      const row = await store.requests.find(notice.request_id ?? '');
      return row ? openedFor(store, project.info, { row, channel, now, vault }) : null;
    });
  }

  #channelOf(store: Repositories, token: string): Promise<ChannelRow | undefined> {
    return store.channels.byToken(hash('sha256', token), this.#deps.clock.now());
  }

  async #confirm(token: string, telegram: TelegramChat | null): Promise<ChannelView | null> {
    const project = await this.#projectOf(token);
    if (!project) return null;
    if (telegram) {
      const channel = await project.store.read((store) => this.#channelOf(store, token));
      if (channel?.kind !== 'telegram') return null;
      await this.#deps.chats.add(project.info.id, telegram.chatId);
    }
    const now = this.#deps.clock.now();
    const confirmation = { tokenHash: hash('sha256', token), telegram, now };
    const channelId = await project.writes.run('confirmChannel', confirmation);
    if (channelId === null) return null;
    const channel = await project.store.read((store) => store.channels.find(channelId));
    return channel ? channelViewFor(channel, project.info) : null;
  }

  #chatOf({ info }: Project, channel: ChannelRow): ReturnType<typeof chatOf> {
    return chatOf(this.#deps.vault, info.id, channel);
  }
}
