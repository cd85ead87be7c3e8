import type { PersonPlace } from '../../shared/rules/actor.ts';
import type { RefusalKind } from '../../shared/rules/inbox/ingress-limit.ts';
import type { SendResult } from '../lib/send-result.ts';
import type { TelegramChat } from '../commit/commands/people/channels.ts';
import type { BoundValues } from './bound-values.ts';
import type { Role } from '../../shared/rules/roles.ts';
import type { EndedOutcome, Outcome } from '../../shared/rules/requests/outcome.ts';
import type {
  Choice,
  RequestKind,
  RequestStatus,
} from '../../shared/rules/requests/request-state.ts';

export type { Choice, RequestKind, RequestStatus };

/**
 * A request as a person sees it. An agent wrote everything but ids, kinds, status, numbers and times, so show that as
 * plain text, whatever it looks like.
 */
export interface RequestView {
  readonly id: string;
  readonly kind: RequestKind;
  readonly status: RequestStatus;
  readonly project: { readonly name: string; readonly slug: string };
  /** The agent's own claim. */
  readonly agent: { readonly label: string | null; readonly platform: string };
  readonly keyId: string;
  readonly keyName: string;
  /** The agent's intended action; null for a question. */
  readonly action: string | null;
  /** One line, read first; for a question, the question itself. */
  readonly summary: string;
  readonly details: string | null;
  readonly amount: number | null;
  readonly risk: 'low' | 'medium' | 'high' | null;
  readonly options: readonly string[];
  /** The exact values that will be acted on; null where the agent bound none. */
  readonly bound: BoundValues | null;
  /** The event it is about. Its type was written by the sender. */
  readonly event: { readonly id: string; readonly source: string; readonly type: string } | null;
  /** For a policy: the proposer's note. */
  readonly note: string | null;
  /** For a policy: a line diff with `+ …`, `- …` and `  …`. */
  readonly diff: readonly string[];
  /** Our own warnings about a policy or a mail. */
  readonly warnings: readonly string[];
  /** The first 12 hex digits of a hash of the request, the same on every channel. */
  readonly fingerprint: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly decidedAt: number | null;
  /** The label of the channel that decided, or of all whose approvals counted, or the name of a policy rule. */
  readonly decidedBy: string | null;
  readonly decision: string | null;
  readonly comment: string | null;
  /** How many people must approve it, and who did, where that's more than one. */
  readonly approvals: {
    readonly needed: number;
    readonly given: readonly { readonly label: string; readonly at: number }[];
  };
  /** Why the agent took it back; null where it didn't. */
  readonly withdrawn: string | null;
  /** Why the decision came too late for the agent; null where it didn't. */
  readonly unused: string | null;
  /** What became of the event after a person decided. */
  readonly outcome: Outcome | null;
  /** What it belongs to, as the agent says, and how many requests of that were asked and allowed so far. */
  readonly thread: {
    readonly name: string;
    readonly asked: number;
    readonly allowed: number;
  } | null;
  /** What else a person may approve with it for an hour, such as `this very command`; null if nothing. */
  readonly like: string | null;
  /** The rule that a person may propose with their approval, in one line; null if none was suggested. */
  readonly suggestedRule: string | null;
  /** Until when the answer holds for others in the thread; null if it's only for this request. */
  readonly lastsUntil: number | null;
}

/** A request seen through the link or button of one channel. */
export interface OpenedRequest {
  readonly request: RequestView;
  readonly channel: { readonly id: string; readonly label: string };
  /** Whether a person decided through this very channel. */
  readonly isDecider: boolean;
  /** When this very channel approved, where several people must. */
  readonly votedAt: number | null;
  /** Until when the person wants no messages from the request's key; null where they do. */
  readonly mutedUntil: number | null;
  /** The time of the gateway. */
  readonly now: number;
}

/** `taken`: the choice now stands. `counted`: the approval counts, and more people must approve. `late`: another decision or the deadline came first; `opened` shows which. */
export type DecisionOutcome =
  | { readonly outcome: 'taken'; readonly opened: OpenedRequest }
  | { readonly outcome: 'counted'; readonly opened: OpenedRequest }
  | { readonly outcome: 'late'; readonly opened: OpenedRequest }
  /** The choice doesn't fit the request, for example a missing option; `problem` says so in one sentence. */
  | { readonly outcome: 'refused'; readonly opened: OpenedRequest; readonly problem: string };

/** An email channel whose owner confirms the address. */
export interface ChannelView {
  readonly label: string;
  readonly project: { readonly name: string; readonly slug: string };
  /** As `a***@example.com`. */
  readonly address: string;
  readonly status: 'added' | 'verified' | 'active';
}

/**
 * Takes decisions of people from every channel. Tokens come from links and buttons; an unknown or dead token gives
 * null. Opening never decides.
 */
export interface ApprovalService {
  open(token: string): Promise<OpenedRequest | null>;
  /** `place`: where the person pressed the button (default: on the page behind the link). */
  decide(token: string, choice: Choice, place?: PersonPlace): Promise<DecisionOutcome | null>;
  /** Mutes the request's key for this channel, for an hour from now, or ends that. */
  mute(token: string, isOn: boolean): Promise<OpenedRequest | null>;
  /** An answer that holds for others in its thread holds for its own request alone from now on. */
  endLasting(token: string, place?: PersonPlace): Promise<OpenedRequest | null>;
  openChannel(token: string): Promise<ChannelView | null>;
  /** Confirms the address of an email channel. */
  verifyEmail(token: string): Promise<ChannelView | null>;
  /** Confirms a Telegram channel by `/start <token>`. */
  startTelegram(token: string, chat: TelegramChat): Promise<ChannelView | null>;
  /** Whether a token belongs to this user in this chat. */
  isTelegram(token: string, chat: { chatId: number; userId: number }): Promise<boolean>;
  /** The token of a message in a chat, for replies to it. */
  tokenOfMessage(chatId: number, messageId: number): Promise<string | null>;
}

/** A request in a digest. `tell` only informs: a policy decided it, or its outcome is known. */
export interface DigestItem {
  readonly kind: 'ask' | 'tell';
  readonly opened: OpenedRequest;
  /** Opens the request; null where nothing is to decide. */
  readonly token: string | null;
}

/** Why a project's senders are turned away. */
export interface LimitedView {
  readonly project: { readonly name: string; readonly slug: string };
  /** The source that has reached a limit; null if the disk is nearly full. */
  readonly source: string | null;
  readonly kind: RefusalKind;
  /** Undefined for the disk. */
  readonly limit: number | undefined;
}

/** Something new that gives access, as an owner is told. */
export interface AccessView {
  readonly project: { readonly name: string; readonly slug: string };
  readonly kind: 'member' | 'key' | 'route';
  readonly id: string;
  /** A masked address, the name of a key, or a URL. */
  readonly name: string;
  /** What it may do or gets, such as a role or scopes. */
  readonly what: string;
  /** Who made it: a key's name or a masked address. */
  readonly maker: string;
  /** When, in milliseconds. */
  readonly at: number;
}

/** A message to a person. */
export type Notification =
  /** Asks a person: `token` opens the request and decides it. */
  | {
      readonly kind: 'ask';
      readonly opened: OpenedRequest;
      readonly token: string;
      /** The message that asked the same person before. */
      readonly remindsOf?: string;
      /** The first message to the person about the same thread. */
      readonly follows?: string;
    }
  /** Tells a person that a policy rule approved something. No buttons. */
  | { readonly kind: 'tell'; readonly opened: OpenedRequest }
  /** An earlier request has ended: its message loses its buttons and shows the result. */
  | { readonly kind: 'over'; readonly opened: OpenedRequest; readonly messageId: string }
  /** Somebody approved, and more people must: the message that asked says so, and keeps its buttons. */
  | {
      readonly kind: 'voted';
      readonly opened: OpenedRequest;
      readonly messageId: string;
      readonly token: string;
    }
  /** A reply to the mail that asked: what became of the decision. */
  | {
      readonly kind: 'outcome';
      readonly opened: OpenedRequest;
      readonly outcome: EndedOutcome;
      readonly messageId: string;
      readonly token: string;
    }
  /** One message instead of many: what a key asks or tells, beyond what the person should get at once. */
  | {
      readonly kind: 'digest';
      readonly project: RequestView['project'];
      readonly channel: OpenedRequest['channel'];
      readonly keyName: string;
      /** Oldest first, at least one. */
      readonly items: readonly DigestItem[];
    }
  /** Tells the owner that a source takes nothing in. */
  | { readonly kind: 'limited'; readonly limited: LimitedView }
  /** Tells an owner of a new member, key or route. */
  | { readonly kind: 'access'; readonly access: AccessView }
  /** Asks a person to confirm an address. */
  | { readonly kind: 'verify'; readonly channel: ChannelView; readonly token: string }
  /** Invites a person to a project. */
  | { readonly kind: 'invite'; readonly invitation: InvitationView; readonly token: string };

/** An invitation as the invited person sees it. */
export interface InvitationView {
  readonly project: { readonly name: string; readonly slug: string };
  readonly role: Role;
  /** As `a***@example.com`. */
  readonly address: string;
  /** Who invites: a masked address, or the name of a key. */
  readonly inviter: string;
}

/** A way to reach people, by its kind: email, Telegram. Never throws. */
export interface Carrier {
  /** `address` is an email address, or a Telegram `chatId` as text. `id` is the same for every attempt. */
  send(
    notification: Notification,
    to: { readonly address: string; readonly id: string },
  ): Promise<SendResult>;
}
