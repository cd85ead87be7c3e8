import type { Clock } from '../../../shared/lib/clock.ts';
import type { BackgroundTask } from '../../lib/background-task.ts';
import type { Carrier, ApprovalService } from '../../approvals/approvals.ts';
import { backoffMs, pause, PAUSES, type Pauses } from '../../lib/backoff.ts';
import { BotApi } from './bot-api.ts';
import { telegramCarrier } from './carrier.ts';
import { Conversation } from './conversation.ts';
import { CallQueue } from './call-queue.ts';
import { TelegramFailure } from './failure.ts';
import { Poller } from './poller.ts';
import { Chat } from './chat.ts';
import { webhookHandler, webhookSecret, type Webhook } from './webhook.ts';

interface TelegramConfig {
  readonly token: string;
  readonly apiRoot: string;
  readonly mode: 'poll' | 'webhook';
  /** The base URL of the pages for people and of the webhook. */
  readonly publicUrl: string;
}

/** Something an operator should know. It contains no token and no text by people or agents. */
export interface BotProblem {
  readonly kind:
    /** Another process fetches the same updates. Reported once. */
    | 'conflict'
    /** Telegram refuses the token or the webhook, so nothing works until somebody changes the configuration. */
    | 'refused'
    /** Reported once until Telegram answers again. */
    | 'unreachable'
    | 'failed';
  readonly message: string;
  /** An error in our own code. */
  readonly cause?: unknown;
}

interface TelegramBotOptions {
  readonly config: TelegramConfig;
  readonly approvals: ApprovalService;
  readonly clock: Clock;
  readonly onTrouble: (trouble: BotProblem) => void;
  /** For tests. */
  readonly pauses?: Pauses;
  readonly callMaxMs?: number;
}

/** How long a stop waits for toasts and edits under way. */
const FAREWELL_MS = 1000;

const NOT_YET = "Telegram hasn't answered yet.";
const CONFLICT =
  'Something else is fetching the updates of this bot: another gateway with the same token, or a webhook. ' +
  'Decisions may get lost until only one is left.';

/** One bot: sends notifications and passes people's taps and texts to the approval service. Started and stopped once. */
export class TelegramBot {
  readonly carrier: Carrier;
  /** Null if updates are fetched. */
  readonly webhook: Webhook | null;
  readonly #options: TelegramBotOptions;
  readonly #publicUrl: string;
  readonly #api: BotApi;
  readonly #calls: CallQueue;
  readonly #poller: Poller;
  readonly #stopping = new AbortController();
  #work: Promise<void> = Promise.resolve();
  /** The task's fetching, under way. */
  #fetching: Promise<void> = Promise.resolve();
  /** Resolves when Telegram has taken the bot's first calls. */
  readonly #begun: Promise<void>;
  #hasBegun: () => void = () => undefined;
  #username: string | null = null;
  /** Why it doesn't get updates. */
  #trouble: string | null = NOT_YET;
  /** Why all calls would fail, according to the last one. */
  #lastCall: string | null = null;
  /** Problems already reported: a conflict is reported once, others again after Telegram has answered. */
  readonly #told = new Set<BotProblem['kind']>();

  constructor(options: TelegramBotOptions) {
    const { config, approvals, clock, pauses = PAUSES, callMaxMs } = options;
    this.#begun = new Promise((resolve) => (this.#hasBegun = resolve));
    const publicUrl = new URL(config.publicUrl).href.replace(/\/+$/, '');
    this.#options = options;
    this.#publicUrl = publicUrl;
    this.#api = new BotApi({
      ...config,
      ...(callMaxMs !== undefined && { callMaxMs }),
      onOutcome: (failure) => {
        const isDead = failure !== null && (failure.isTokenRefused || failure.code === null);
        this.#lastCall = isDead ? failure.message : null;
      },
    });
    this.#calls = new CallQueue((error) => this.#courtesyFailed(error));
    const chat = new Chat({ api: this.#api, approvals, clock, calls: this.#calls, publicUrl });
    const conversation = new Conversation(chat, clock, (error) => this.#failed(error));
    this.#poller = new Poller({
      api: this.#api,
      handle: (update) => conversation.handle(update),
      onFailure: (error) => this.#unanswered(error),
      onSuccess: () => this.#reached(),
      pauses,
    });
    this.carrier = telegramCarrier(this.#api, publicUrl);
    this.webhook =
      config.mode === 'webhook'
        ? webhookHandler(webhookSecret(config.token), (update) => conversation.handle(update))
        : null;
  }

  /** The bot's name without `@`; null until Telegram has said it. */
  get username(): string | null {
    return this.#username;
  }

  /** Why the bot doesn't work right now; null while it works. */
  get trouble(): string | null {
    return this.#trouble ?? this.#lastCall;
  }

  /** The link that connects a person's chat; null until the bot knows its name. */
  startUrl(token: string): string | null {
    return this.#username && `https://t.me/${this.#username}?start=${encodeURIComponent(token)}`;
  }

  /**
   * Resolves when the bot is ready, or when Telegram can't be reached. Rejects with a `TelegramFailure` if Telegram
   * refuses the token or the webhook. After either failure it keeps trying in the background: what was refused may be
   * allowed later, and no other gateway fetches meanwhile.
   */
  async start(): Promise<void> {
    try {
      await this.#begin();
    } catch (error) {
      this.#trouble = troubleOf(error).message;
      this.#work = this.#beginLater();
      if (isFinal(error)) throw error;
      this.#unanswered(error);
      return;
    }
    this.#reached();
    this.#hasBegun();
  }

  /**
   * Ends the long poll at once. Records the decisions under way and gives messages to people a second. Stop the sender of
   * notifications first: one that is cut off here may have arrived.
   */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const all = (): Promise<unknown> =>
      Promise.all([this.#work, this.#fetching, this.#calls.idle(), this.#api.idle()]);
    const farewell = new AbortController();
    await Promise.race([all(), pause(FAREWELL_MS, farewell.signal)]);
    farewell.abort();
    this.#api.close();
    await all();
  }

  /** Fetches updates as soon as the bot has started, which only one process may do; null if Telegram delivers them. */
  get task(): BackgroundTask | null {
    if (this.webhook !== null) return null;
    let ending = new AbortController();
    return {
      name: 'telegram',
      start: async () => {
        ending = new AbortController();
        this.#fetching = this.#fetch(AbortSignal.any([ending.signal, this.#stopping.signal]));
      },
      stop: () => {
        ending.abort();
        return this.#fetching;
      },
    };
  }

  async #fetch(signal: AbortSignal): Promise<void> {
    const ended = new Promise((resolve) => signal.addEventListener('abort', resolve));
    await Promise.race([this.#begun, ended]);
    if (!signal.aborted) await this.#poller.run(signal);
  }

  async #begin(): Promise<void> {
    this.#username = await this.#api.username();
    if (this.webhook === null) return this.#api.deleteWebhook();
    const secret = webhookSecret(this.#options.config.token);
    return this.#api.setWebhook(this.#publicUrl + this.webhook.path, secret);
  }

  async #beginLater(): Promise<void> {
    const { signal } = this.#stopping;
    for (let failures = 1; !signal.aborted; failures += 1) {
      await pause(backoffMs(failures, this.#options.pauses ?? PAUSES), signal);
      if (signal.aborted) return;
      try {
        await this.#begin();
      } catch (error) {
        this.#unanswered(error);
        continue;
      }
      this.#reached();
      this.#hasBegun();
      return;
    }
  }

  #reached(): void {
    this.#trouble = null;
    for (const kind of ['refused', 'unreachable', 'failed'] as const) this.#told.delete(kind);
  }

  /** An essential call failed and will be retried. */
  #unanswered(error: unknown): void {
    if (this.#stopping.signal.aborted) return;
    const { kind, message } = troubleOf(error);
    this.#trouble = message;
    if (this.#told.has(kind)) return;
    this.#told.add(kind);
    this.#tell({ kind, message });
  }

  /** A toast, an edit or a reply failed, which doesn't change any decision. */
  #courtesyFailed(error: unknown): void {
    const isExpected =
      error instanceof TelegramFailure &&
      (error.isChatGone || error.isEditDone || error.isTapOld || error.code === null);
    if (!isExpected && !this.#stopping.signal.aborted) this.#failed(error);
  }

  #failed(error: unknown): void {
    if (error instanceof TelegramFailure) {
      this.#tell({ kind: 'failed', message: error.message });
    } else {
      this.#tell({ kind: 'failed', message: 'An update could not be handled.', cause: error });
    }
  }

  #tell(trouble: BotProblem): void {
    this.#options.onTrouble(trouble);
  }
}

function isFinal(error: unknown): boolean {
  return error instanceof TelegramFailure && (error.isTokenRefused || error.code === 400);
}

function troubleOf(error: unknown): BotProblem {
  if (error instanceof TelegramFailure && error.code === 409) {
    return { kind: 'conflict', message: CONFLICT };
  }
  const message = error instanceof Error ? error.message : 'unknown trouble';
  if (isFinal(error)) return { kind: 'refused', message };
  const isOurs = !(error instanceof TelegramFailure) || error.isOurs;
  return { kind: isOurs ? 'failed' : 'unreachable', message };
}
