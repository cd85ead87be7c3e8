import type { AccessView, Carrier, Notification } from '../approvals/approvals.ts';
import type { SendResult } from '../lib/send-result.ts';
import { isMailAddress } from '../../shared/rules/mail/mail-address.ts';
import { digestMessage } from './digest-message.ts';
import {
  accessMessage,
  askMessage,
  joinMessage,
  limitedMessage,
  outcomeMessage,
  tellMessage,
  verifyMessage,
  type MessageText,
} from './messages.ts';
import { LOCAL_FROM } from './mail-config.ts';
import { later, orAgain, type Mailer } from './mailer.ts';

interface MailCarrierOptions {
  /** Base of the links to pages. */
  readonly publicUrl: string;
  /** The sender; in local mode, an address that can't receive replies. */
  readonly from?: string;
}

/** Reaches people by email. */
export class MailCarrier implements Carrier {
  readonly #mailer: Mailer;
  readonly #base: string;
  readonly #from: string;

  constructor(mailer: Mailer, { publicUrl, from = LOCAL_FROM }: MailCarrierOptions) {
    this.#mailer = mailer;
    this.#base = publicUrl.replace(/\/+$/, '');
    this.#from = from;
  }

  async send(notification: Notification, to: { address: string; id: string }): Promise<SendResult> {
    // A sent mail can't be changed; the page behind its link says how the request ended.
    if (notification.kind === 'over' || notification.kind === 'voted') {
      return { outcome: 'sent', messageId: null };
    }
    if (!isMailAddress(to.address)) {
      return { outcome: 'refused', reason: 'The channel has no plain email address.' };
    }
    try {
      const text = this.#textOf(notification);
      const inReplyTo = earlierMail(notification);
      const mail = {
        id: to.id,
        from: this.#from,
        to: to.address,
        ...text,
        ...(inReplyTo !== null && { inReplyTo }),
      };
      return orAgain(await this.#mailer.send(mail));
    } catch (error) {
      return later(`The mail could not be written (${error instanceof Error ? error.name : '?'}).`);
    }
  }

  #textOf(notification: Exclude<Notification, { kind: 'over' | 'voted' }>): MessageText {
    switch (notification.kind) {
      case 'ask': {
        const { opened, token, remindsOf, follows } = notification;
        const isReminder = remindsOf !== undefined;
        const isReply = isReminder || follows !== undefined;
        return askMessage(opened, this.#link('a', token), { isReminder, isReply });
      }
      case 'tell':
        return tellMessage(notification.opened);
      case 'outcome': {
        const { opened, outcome, token } = notification;
        return outcomeMessage(opened, outcome, this.#link('a', token));
      }
      case 'digest':
        return digestMessage(notification, {
          inboxUrl: `${this.#base}/ui/p/${notification.project.slug}/requests`,
          linkOf: (token) => this.#link('a', token),
        });
      case 'limited':
        return limitedMessage(notification.limited, `${this.#base}/ui`);
      case 'access':
        return accessMessage(notification.access, this.#pageOf(notification.access));
      case 'verify':
        return verifyMessage(notification.channel, this.#link('c', notification.token));
      case 'invite':
        return joinMessage(notification.invitation, this.#link('ui/join', notification.token));
    }
  }

  #pageOf({ project, kind, id }: AccessView): string {
    return `${this.#base}/ui/p/${project.slug}/${kind}s/${id}`;
  }

  #link(page: 'a' | 'c' | 'ui/join', token: string): string {
    return `${this.#base}/${page}/${encodeURIComponent(token)}`;
  }
}

/** The Message-ID of the mail that this one follows in its thread. */
function earlierMail(notification: Notification): string | null {
  if (notification.kind === 'outcome') return notification.messageId;
  if (notification.kind !== 'ask') return null;
  return notification.remindsOf ?? notification.follows ?? null;
}
