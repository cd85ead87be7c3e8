import { outboxFolder } from '../shared/host/outbox.ts';
import type { BackgroundTask } from './lib/background-task.ts';
import type { Clock } from '../shared/lib/clock.ts';
import type { MailInfo, Vault } from '../shared/kernel/context.ts';
import type { ChannelKind } from '../shared/store/tables/people/channels.ts';
import { Semaphore } from './lib/semaphore.ts';
import { Mails } from './mail/outbound/mails.ts';
import { MailCarrier } from './mail/mail-carrier.ts';
import type { MailConfig } from './mail/mail-config.ts';
import { orAgain, type Mailer, type OutgoingMail } from './mail/mailer.ts';
import { openMailer } from './mail/open-mailer.ts';
import { type Metrics } from './lib/metrics.ts';
import { meteredCarrier } from './approvals/metered-carrier.ts';
import { BrowserPush } from './channels/push/browser-push.ts';
import type { CallbackAllow } from './callbacks/callback-allow.ts';
import type { TelegramBot, BotProblem } from './channels/telegram/bot.ts';
import type { Webhook } from './channels/telegram/webhook.ts';
import type { Carrier, ApprovalService } from './approvals/approvals.ts';
import type { SendResult } from './lib/send-result.ts';
import type { SendingProject } from './projects/send-queue.ts';
import { NotificationQueue } from './approvals/notification-queue.ts';

/** The maximum size of mail attachments in memory, for all projects together. */
const FILES_IN_HAND_MAX_BYTES = 32 * 1024 * 1024;

/** The settings for reaching people. */
export interface MessagingConfig {
  readonly mail: MailConfig;
  /** Null without a bot. */
  readonly telegram: {
    readonly token: string;
    readonly apiRoot: string;
    readonly mode: 'poll' | 'webhook';
  } | null;
}

/** The health of a bot. */
export interface BotHealth {
  /** Why it doesn't work at the moment; null if it does. */
  readonly trouble: string | null;
}

interface MessagingDeps {
  readonly config: MessagingConfig;
  readonly dataFolder: string;
  /** The base URL of the pages that links open. */
  readonly publicUrl: string;
  readonly clock: Clock;
  readonly vault: Vault;
  readonly addresses: MailInfo;
  /** Gets Telegram problems for the operator. */
  readonly onTrouble: (trouble: BotProblem) => void;
  readonly metrics?: Metrics | undefined;
  /** Private addresses that browsers' push services may have. */
  readonly callbackAllow?: CallbackAllow | undefined;
}

/** Holds the ways to reach people, and the notifications and mails of all projects. */
export class Messaging {
  readonly #deps: MessagingDeps;
  readonly #mailer: Mailer;
  readonly #carriers: Partial<Record<ChannelKind, Carrier>>;
  /** The notifications and mails of all projects. */
  readonly #queues = new Set<{ close(): void }>();
  /** Shows people's messages in their browsers. */
  readonly browsers: BrowserPush;
  readonly #filesInHand = new Semaphore(FILES_IN_HAND_MAX_BYTES);
  #bot: TelegramBot | null = null;

  private constructor(deps: MessagingDeps, mailer: Mailer) {
    const { config, publicUrl } = deps;
    const { from } = config.mail;
    this.#deps = deps;
    this.#mailer = mailer;
    this.browsers = new BrowserPush({ ...deps, allow: deps.callbackAllow });
    const carrier = new MailCarrier(mailer, { publicUrl, ...(from && { from }) });
    this.#carriers = { email: meteredCarrier(carrier, 'email', deps.metrics) };
  }

  static async open(deps: MessagingDeps): Promise<Messaging> {
    const { config, dataFolder, clock } = deps;
    const mailer = { outboxFolder: outboxFolder({ dataFolder }), clock };
    return new Messaging(deps, await openMailer(config.mail, mailer));
  }

  /** The folder that keeps mail instead of sending it; null if mail is sent. */
  get outboxFolder(): string | null {
    const { config, dataFolder } = this.#deps;
    return config.mail.kind === 'outbox' ? outboxFolder({ dataFolder }) : null;
  }

  /** The kinds of channels that this gateway offers. */
  get kinds(): ChannelKind[] {
    return this.#deps.config.telegram ? ['email', 'telegram'] : ['email'];
  }

  /** The name of the Telegram bot; null without a bot, or until Telegram has sent the name. */
  get telegramBot(): string | null {
    return this.#bot?.username ?? null;
  }

  /** Null without a Telegram bot. */
  get telegram(): BotHealth | null {
    return this.#bot && { trouble: this.#bot.trouble };
  }

  /** The webhook for Telegram's updates; null without one. */
  get webhook(): Webhook | null {
    return this.#bot?.webhook ?? null;
  }

  /** Fetches the bot's updates; null without a bot, or if Telegram delivers them. */
  get task(): BackgroundTask | null {
    return this.#bot?.task ?? null;
  }

  /** Sends a mail that belongs to no project. */
  async mail(mail: Omit<OutgoingMail, 'from'>): Promise<SendResult> {
    return orAgain(await this.#mailer.send({ ...mail, from: this.#deps.config.mail.from }));
  }

  notificationsOf(project: SendingProject): NotificationQueue {
    const { clock, vault } = this.#deps;
    const notifications = new NotificationQueue(project, {
      clock,
      vault,
      carriers: this.#carriers,
      // Mail in the outbox folder floods nobody.
      browsers: this.browsers,
      isCounted: (kind) => kind !== 'email' || this.#deps.config.mail.kind !== 'outbox',
    });
    this.#queues.add(notifications);
    return notifications;
  }

  mailsOf(project: ConstructorParameters<typeof Mails>[0]): Mails {
    const { clock, vault } = this.#deps;
    const mails = new Mails(project, {
      clock,
      vault,
      mailer: this.#mailer,
      addresses: this.#deps.addresses,
      filesInHand: this.#filesInHand,
      metrics: this.#deps.metrics,
    });
    this.#queues.add(mails);
    return mails;
  }

  /**
   * Connects the bot to `approvals`. Only a gateway with a bot loads its package. The start doesn't wait for
   * Telegram, because the gateway also works without it.
   */
  async connect(approvals: ApprovalService): Promise<void> {
    const { config, publicUrl, clock, onTrouble, metrics } = this.#deps;
    if (!config.telegram) return;
    const { TelegramBot: Bot } = await import('./channels/telegram/bot.ts');
    const telegram = { ...config.telegram, publicUrl };
    const bot = new Bot({ config: telegram, approvals, clock, onTrouble });
    this.#bot = bot;
    this.#carriers.telegram = meteredCarrier(bot.carrier, 'telegram', metrics);
    bot.start().catch((cause: unknown) => {
      onTrouble({ kind: 'refused', message: 'Telegram refuses the bot.', cause });
    });
  }

  /** Sends no more notifications and soon ends those in progress; the next start sends the rest. */
  async close(): Promise<void> {
    for (const queue of this.#queues) queue.close();
    this.browsers.close();
    await Promise.all([this.#mailer.close(), this.#bot?.stop()]);
  }
}
