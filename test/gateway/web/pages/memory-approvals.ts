import type {
  ChannelView,
  Choice,
  DecisionOutcome,
  ApprovalService,
  OpenedRequest,
  RequestStatus,
  RequestView,
} from '../../../../gateway/approvals/approvals.ts';
import type { Clock } from '../../../../shared/lib/clock.ts';

const HOUR = 3_600_000;

/** A request for an approval as an ordinary agent asks for it. */
export function aRequest(now: number, change: Partial<RequestView> = {}): RequestView {
  return {
    id: 'req_01',
    kind: 'approval',
    status: 'pending',
    project: { name: 'Acme Shop', slug: 'acme-shop' },
    agent: { label: 'refund-bot', platform: 'claude-code' },
    keyId: 'key_ci',
    keyName: 'ci',
    action: 'refund.create',
    summary: 'Refund order 1042, which was charged twice',
    details: null,
    amount: 129.5,
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
    fingerprint: '8f3a12bc90de',
    createdAt: now - 4 * 60_000,
    expiresAt: now + 3 * HOUR,
    decidedAt: null,
    decidedBy: null,
    decision: null,
    comment: null,
    ...change,
  };
}

interface Link {
  readonly requestId: string;
  readonly channel: OpenedRequest['channel'];
}

/** A desk that keeps what it is told in memory, and counts nothing but what was decided. */
export class MemoryApprovals implements ApprovalService {
  readonly #clock: Clock;
  readonly #requests = new Map<string, RequestView>();
  readonly #links = new Map<string, Link>();
  readonly #channels = new Map<string, ChannelView>();
  /** Every choice that was taken, in order. */
  readonly taken: Choice[] = [];
  /** Until when a key is muted. */
  readonly muted = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Puts a request there, with a link for each of these channels by its label. */
  ask(request: RequestView, links: Readonly<Record<string, string>>): void {
    this.#requests.set(request.id, request);
    for (const [token, label] of Object.entries(links)) {
      this.#links.set(token, { requestId: request.id, channel: { id: `chn_${label}`, label } });
    }
  }

  addChannel(token: string, channel: ChannelView): void {
    this.#channels.set(token, channel);
  }

  /** Links of a channel that was removed are dead. */
  kill(token: string): void {
    this.#links.delete(token);
  }

  async open(token: string): Promise<OpenedRequest | null> {
    const link = this.#links.get(token);
    const request = link && this.#requests.get(link.requestId);
    if (!link || !request) return null;
    const now = this.#clock.now();
    const expired = request.status === 'pending' && now >= request.expiresAt;
    const shown = expired ? { ...request, status: 'expired' as const } : request;
    return {
      request: shown,
      channel: link.channel,
      isDecider: request.decidedBy === link.channel.label,
      votedAt: null,
      mutedUntil: this.muted.get(request.keyId) ?? null,
      now,
    };
  }

  async mute(token: string, isOn: boolean): Promise<OpenedRequest | null> {
    const opened = await this.open(token);
    if (opened === null) return null;
    const { keyId } = opened.request;
    if (isOn) this.muted.set(keyId, opened.now + HOUR);
    else this.muted.delete(keyId);
    return this.open(token);
  }

  async endLasting(token: string): Promise<OpenedRequest | null> {
    const opened = await this.open(token);
    if (opened === null) return null;
    this.#requests.set(opened.request.id, { ...opened.request, lastsUntil: opened.now });
    return this.open(token);
  }

  async decide(token: string, choice: Choice): Promise<DecisionOutcome | null> {
    const opened = await this.open(token);
    if (opened === null) return null;
    const { request, channel, now } = opened;
    if (request.status !== 'pending') return { outcome: 'late', opened };
    const problem = problemOf(request, choice);
    if (problem !== null) return { outcome: 'refused', opened, problem };
    this.taken.push(choice);
    this.#requests.set(request.id, {
      ...request,
      ...outcomeOf(request, choice),
      comment: 'comment' in choice ? (choice.comment ?? null) : null,
      lastsUntil: 'lasts' in choice ? now + HOUR : null,
      decidedAt: now,
      decidedBy: channel.label,
    });
    const after = await this.open(token);
    return after && { outcome: 'taken', opened: after };
  }

  async openChannel(token: string): Promise<ChannelView | null> {
    return this.#channels.get(token) ?? null;
  }

  async verifyEmail(token: string): Promise<ChannelView | null> {
    const channel = this.#channels.get(token);
    if (!channel) return null;
    const status = channel.status === 'added' ? 'verified' : channel.status;
    this.#channels.set(token, { ...channel, status });
    return { ...channel, status };
  }

  async startTelegram(): Promise<null> {
    return null;
  }

  async isTelegram(): Promise<boolean> {
    return false;
  }

  async tokenOfMessage(): Promise<null> {
    return null;
  }
}

function problemOf(request: RequestView, choice: Choice): string | null {
  const isQuestion = request.kind === 'question';
  const missing = choice.verb === 'option' && request.options[choice.index] === undefined;
  if (missing) return 'There is no such option.';
  if (isQuestion && (choice.verb === 'approve' || choice.verb === 'deny')) {
    return 'A question is answered, not approved or denied.';
  }
  return !isQuestion && choice.verb === 'answer' ? 'An approval takes no answer.' : null;
}

function outcomeOf(
  request: RequestView,
  choice: Choice,
): { status: RequestStatus; decision: string | null } {
  switch (choice.verb) {
    case 'approve':
      return { status: 'approved', decision: null };
    case 'deny':
      return { status: 'denied', decision: null };
    case 'needs_context':
      return { status: 'needs_context', decision: null };
    case 'answer':
      return { status: 'answered', decision: choice.text };
    case 'option': {
      const decision = request.options[choice.index] ?? null;
      return { status: request.kind === 'question' ? 'answered' : 'modified', decision };
    }
  }
}
