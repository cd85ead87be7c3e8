import type { Choice, RequestKind, RequestStatus } from '../../shared/rules/request-state.ts';

export type { Choice, RequestKind, RequestStatus };

/**
 * A request as a person is shown it. Everything but ids, kinds, status, numbers and times was written by an agent: it is
 * text, shown as text, whatever it looks like.
 */
export interface RequestView {
  readonly id: string;
  readonly kind: RequestKind;
  readonly status: RequestStatus;
  readonly project: { readonly name: string; readonly slug: string };
  /** Who the agent says it is. */
  readonly agent: { readonly label: string | null; readonly platform: string };
  readonly keyName: string;
  /** What the agent wants to do; null for a question. */
  readonly action: string | null;
  /** One line, read first; for a question, the question itself. */
  readonly summary: string;
  readonly details: string | null;
  readonly amount: number | null;
  readonly risk: 'low' | 'medium' | 'high' | null;
  readonly options: readonly string[];
  /** For a policy: the note of whoever proposes it. */
  readonly note: string | null;
  /** For a policy: its change line by line, as `+ …`, `- …` and `  …`. */
  readonly diff: readonly string[];
  /** What our own look at it found: for a policy, and for a mail. */
  readonly warnings: readonly string[];
  /** The first 12 hex digits of what was asked: the same on every channel. */
  readonly fingerprint: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly decidedAt: number | null;
  /** The label of the channel that decided, or the name of a policy rule. */
  readonly decidedBy: string | null;
  readonly decision: string | null;
  readonly comment: string | null;
}

/** A request seen through the link or button of one channel. */
export interface Opened {
  readonly request: RequestView;
  readonly channel: { readonly id: string; readonly label: string };
  /** The time of the gateway. */
  readonly now: number;
}

/** `taken`: the choice now stands. `late`: somebody, or time, was quicker, and `opened` tells who. */
export type Decided =
  | { readonly outcome: 'taken'; readonly opened: Opened }
  | { readonly outcome: 'late'; readonly opened: Opened }
  /** The choice does not fit the request, such as an option that is not there; `problem` says so in one sentence. */
  | { readonly outcome: 'refused'; readonly opened: Opened; readonly problem: string };

/** An email channel whose owner confirms the address. */
export interface ChannelView {
  readonly label: string;
  readonly project: { readonly name: string; readonly slug: string };
  /** As `a***@example.com`. */
  readonly address: string;
  readonly status: 'added' | 'verified' | 'active';
}

export interface TelegramChat {
  readonly chatId: number;
  readonly userId: number;
  /** The name that Telegram shows: the owner is told whom they let in. */
  readonly name: string;
}

/**
 * Where decisions of people arrive, whichever channel they come by. Tokens are those of links and buttons; an unknown or
 * dead one is null. Looking never decides.
 */
export interface ApprovalService {
  open(token: string): Promise<Opened | null>;
  decide(token: string, choice: Choice): Promise<Decided | null>;
  openChannel(token: string): Promise<ChannelView | null>;
  /** Confirms the address of an email channel. */
  verifyEmail(token: string): Promise<ChannelView | null>;
  /** Confirms a Telegram channel by `/start <token>`. */
  startTelegram(token: string, chat: TelegramChat): Promise<ChannelView | null>;
  /** Whether this user in this chat is the channel that a token belongs to. */
  isTelegram(token: string, chat: { chatId: number; userId: number }): Promise<boolean>;
  /** The token of a message that was sent to a chat, for replies to it. */
  tokenOfMessage(chatId: number, messageId: number): Promise<string | null>;
}

/** What is to be sent to a person. */
export type Notification =
  /** A person is asked: `token` opens and decides. */
  | { readonly kind: 'ask'; readonly opened: Opened; readonly token: string }
  /** A person is told that a policy rule approved something. No buttons. */
  | { readonly kind: 'tell'; readonly opened: Opened }
  /** A request that was sent before is over: a message with buttons loses them and says how it ended. */
  | { readonly kind: 'over'; readonly opened: Opened; readonly messageId: string }
  /** An address is to be confirmed. */
  | { readonly kind: 'verify'; readonly channel: ChannelView; readonly token: string };

/** What a mail server answered that did not take a mail; missing where nothing was heard, or where it is not about the mail. */
export interface SmtpReply {
  readonly smtpCode?: number | null;
  /** `5.1.1` (RFC 3463); null when the server told none. */
  readonly enhancedCode?: string | null;
}

/** How a notification fared. `messageId` is what the channel calls the message, for `over`. */
export type Sent =
  | { readonly outcome: 'sent'; readonly messageId: string | null }
  /** Not now: try again, at the earliest after so many seconds. */
  | ({
      readonly outcome: 'later';
      readonly retryAfterSeconds: number | null;
      readonly reason: string;
    } & SmtpReply)
  /** Never: the address or chat refuses us. */
  | ({ readonly outcome: 'refused'; readonly reason: string } & SmtpReply);

/** A way to reach people, by its kind: email, Telegram. Never throws. */
export interface Carrier {
  /** `address` is the email address, or `chatId` of a Telegram chat as text. `id` is the same at every attempt. */
  send(
    notification: Notification,
    to: { readonly address: string; readonly id: string },
  ): Promise<Sent>;
}
