import type {
  ChannelView,
  Choice,
  DecisionOutcome,
  ApprovalService,
  OpenedRequest,
  RequestStatus,
  RequestView,
} from '../../../../gateway/approvals/approvals.ts';
import type { TelegramChat } from '../../../../gateway/commit/commands/people/channels.ts';
import type { Clock } from '../../../../shared/lib/clock.ts';

const PROJECT = { name: 'Acme & Sons', slug: 'acme' };
const HOUR_MS = 3_600_000;

interface Channel {
  readonly id: string;
  readonly label: string;
  status: ChannelView['status'];
  chat: TelegramChat | null;
  isRemoved: boolean;
}

type Verdict = { status: RequestStatus; decision?: string; comment?: string } | { problem: string };

/** A desk that keeps everything in memory, with the rules of the real one. */
export class MemoryApprovals implements ApprovalService {
  readonly channels = new Map<string, Channel>();
  readonly requests = new Map<string, RequestView>();
  /** While true, nothing can be read or written. */
  isDown = false;
  /** Called when a request has been decided. */
  onOver: (requestId: string) => void = () => undefined;
  readonly #clock: Clock;
  readonly #startTokens = new Map<string, string>();
  readonly #tokens = new Map<string, { requestId: string; channelId: string }>();
  readonly #messages = new Map<string, string>();
  #count = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  addChannel(label: string): { channelId: string; startToken: string } {
    const id = `chn_${label}`;
    this.channels.set(id, { id, label, status: 'added', chat: null, isRemoved: false });
    const startToken = this.#token('start');
    this.#startTokens.set(startToken, id);
    return { channelId: id, startToken };
  }

  /** A request and its token for one channel. */
  ask(channelId: string, fields: Partial<RequestView> = {}): { token: string; requestId: string } {
    const now = this.#clock.now();
    const id = fields.id ?? `req_${this.#count}`;
    this.requests.set(id, {
      id,
      kind: 'approval',
      status: 'pending',
      project: PROJECT,
      agent: { label: 'deploy-bot', platform: 'claude-code' },
      keyId: 'key_ci',
      keyName: 'ci',
      action: 'backup.delete',
      summary: 'Delete three old backups',
      details: null,
      amount: null,
      risk: 'medium',
      bound: null,
      event: null,
      approvals: { needed: 1, given: [] },
      withdrawn: null,
      unused: null,
      outcome: null,
      thread: null,
      like: null,
      suggestedRule: null,
      lastsUntil: null,
      options: [],
      note: null,
      diff: [],
      warnings: [],
      fingerprint: 'ab12cd34ef56',
      createdAt: now,
      expiresAt: now + 24 * HOUR_MS,
      decidedAt: null,
      decidedBy: null,
      decision: null,
      comment: null,
      ...fields,
    });
    return { token: this.tokenFor(id, channelId), requestId: id };
  }

  tokenFor(requestId: string, channelId: string): string {
    const token = this.#token('ask');
    this.#tokens.set(token, { requestId, channelId });
    return token;
  }

  sentAs(chatId: number, messageId: number, token: string): void {
    this.#messages.set(`${chatId}/${messageId}`, token);
  }

  request(id: string): RequestView {
    const request = this.requests.get(id);
    if (!request) throw new Error('no such request');
    return request;
  }

  open(token: string): Promise<OpenedRequest | null> {
    return this.#work(() => {
      const found = this.#find(token);
      return found && this.#opened(found.request, found.channel);
    });
  }

  /** The request as this channel sees it. */
  openedBy(requestId: string, channelId: string): OpenedRequest {
    const channel = this.channels.get(channelId);
    if (!channel) throw new Error('no such channel');
    return this.#opened(this.request(requestId), channel);
  }

  mute(token: string): Promise<OpenedRequest | null> {
    return this.open(token);
  }

  endLasting(token: string): Promise<OpenedRequest | null> {
    return this.open(token);
  }

  decide(token: string, choice: Choice): Promise<DecisionOutcome | null> {
    return this.#work(() => {
      const found = this.#find(token);
      if (!found) return null;
      const { request, channel } = found;
      if (request.status !== 'pending') {
        return { outcome: 'late', opened: this.#opened(request, channel) };
      }
      if (request.expiresAt <= this.#clock.now()) {
        const expired = this.#end(request, { status: 'expired' }, null);
        return { outcome: 'late', opened: this.#opened(expired, channel) };
      }
      const verdict = verdictOf(request, choice);
      if ('problem' in verdict) {
        const opened = this.#opened(request, channel);
        return { outcome: 'refused', opened, problem: verdict.problem };
      }
      const ended = this.#end(request, verdict, channel.label);
      return { outcome: 'taken', opened: this.#opened(ended, channel) };
    });
  }

  /** Decides by another channel than the one at hand. */
  decideElsewhere(requestId: string, status: RequestStatus, by: string): void {
    this.#end(this.request(requestId), { status }, by);
  }

  openChannel(): Promise<ChannelView | null> {
    return Promise.resolve(null);
  }

  verifyEmail(): Promise<ChannelView | null> {
    return Promise.resolve(null);
  }

  startTelegram(token: string, chat: TelegramChat): Promise<ChannelView | null> {
    return this.#work(() => {
      const channel = this.channels.get(this.#startTokens.get(token) ?? '');
      if (!channel) return null;
      this.#startTokens.delete(token);
      Object.assign(channel, { chat, status: 'verified' });
      return { label: channel.label, project: PROJECT, address: chat.name, status: channel.status };
    });
  }

  isTelegram(token: string, { chatId, userId }: { chatId: number; userId: number }) {
    return this.#work(() => {
      const chat = this.#find(token)?.channel.chat;
      return chat?.chatId === chatId && chat.userId === userId;
    });
  }

  tokenOfMessage(chatId: number, messageId: number): Promise<string | null> {
    return this.#work(() => this.#messages.get(`${chatId}/${messageId}`) ?? null);
  }

  #work<T>(work: () => T): Promise<T> {
    if (this.isDown) return Promise.reject(new Error('The store is closed.'));
    return Promise.resolve().then(work);
  }

  /** 40 characters, as tokens are. */
  #token(purpose: string): string {
    this.#count += 1;
    return `${purpose}${this.#count}`.padEnd(40, 'x');
  }

  #find(token: string): { request: RequestView; channel: Channel } | null {
    const ids = this.#tokens.get(token);
    const request = this.requests.get(ids?.requestId ?? '');
    const channel = this.channels.get(ids?.channelId ?? '');
    return request && channel && !channel.isRemoved ? { request, channel } : null;
  }

  #opened(request: RequestView, { id, label }: Channel): OpenedRequest {
    const isDecider = request.decidedBy === label;
    return {
      request,
      channel: { id, label },
      isDecider,
      votedAt: null,
      mutedUntil: null,
      now: this.#clock.now(),
    };
  }

  #end(
    request: RequestView,
    verdict: Exclude<Verdict, { problem: string }>,
    by: string | null,
  ): RequestView {
    const ended = { ...request, decidedAt: this.#clock.now(), decidedBy: by, ...verdict };
    this.requests.set(request.id, ended);
    this.onOver(request.id);
    return ended;
  }
}

function verdictOf(request: RequestView, choice: Choice): Verdict {
  const isQuestion = request.kind === 'question';
  switch (choice.verb) {
    case 'approve':
    case 'deny': {
      const status = choice.verb === 'approve' ? 'approved' : 'denied';
      return isQuestion ? { problem: 'A question is answered.' } : { status };
    }
    case 'option': {
      const decision = request.options[choice.index];
      if (decision === undefined) return { problem: 'There is no such option.' };
      return { status: isQuestion ? 'answered' : 'modified', decision };
    }
    case 'answer':
      if (!isQuestion) return { problem: 'Only a question is answered.' };
      return { status: 'answered', decision: choice.text };
    case 'needs_context':
      return { status: 'needs_context', comment: choice.comment };
  }
}
