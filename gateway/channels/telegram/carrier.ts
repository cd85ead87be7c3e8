import type { Carrier, Notification } from '../../approvals/approvals.ts';
import type { SendResult } from '../../lib/send-result.ts';
import type { BotApi } from './bot-api.ts';
import { askButtons, type Keyboard } from './buttons.ts';
import { digestHtml } from './digest.ts';
import { TelegramFailure } from './failure.ts';
import { askHtml, overHtml, tellHtml } from './messages.ts';
import { pageLink } from './page-link.ts';

/**
 * Sends notifications as messages of the bot. Telegram has no idempotency key, so if its answer is lost, the next attempt
 * may send the message twice. Both messages then decide the same request.
 */
export function telegramCarrier(api: BotApi, publicUrl: string): Carrier {
  return {
    async send(notification, to) {
      const chatId = parseId(to.address);
      if (chatId === null) return { outcome: 'refused', reason: 'Not the id of a chat.' };
      try {
        return await deliver(api, publicUrl, notification, chatId);
      } catch (error) {
        return outcomeOf(error);
      }
    },
  };
}

async function deliver(
  api: BotApi,
  publicUrl: string,
  notification: Notification,
  chatId: number,
): Promise<SendResult> {
  switch (notification.kind) {
    case 'ask':
      return ask(api, publicUrl, notification, chatId);
    case 'tell':
      return sent(await api.send(chatId, tellHtml(notification.opened)));
    case 'over': {
      const messageId = parseId(notification.messageId);
      if (messageId === null) return { outcome: 'refused', reason: 'Not the id of a message.' };
      await replaceOnce(api, { chatId, messageId }, { html: overHtml(notification.opened) });
      return sent(messageId);
    }
    case 'voted': {
      const { opened, token } = notification;
      const messageId = parseId(notification.messageId);
      if (messageId === null) return { outcome: 'refused', reason: 'Not the id of a message.' };
      const page = pageLink(publicUrl, token);
      const edit = { html: askHtml(opened, page), buttons: askButtons(opened, token, page) };
      await replaceOnce(api, { chatId, messageId }, edit);
      return sent(messageId);
    }
    case 'digest':
      return sent(await api.send(chatId, digestHtml(notification, publicUrl)));
    case 'outcome':
      return { outcome: 'refused', reason: 'Telegram edits the message that asked.' };
    case 'verify':
    case 'invite':
      return { outcome: 'refused', reason: 'Telegram confirms no addresses.' };
    default:
      return { outcome: 'refused', reason: 'The owner gets this by email.' };
  }
}

async function ask(
  api: BotApi,
  publicUrl: string,
  { opened, token, remindsOf, follows }: Extract<Notification, { kind: 'ask' }>,
  chatId: number,
): Promise<SendResult> {
  const page = pageLink(publicUrl, token);
  const replyTo = follows === undefined ? null : parseId(follows);
  const options = {
    markup: askButtons(opened, token, page),
    ...(replyTo !== null && { replyTo }),
  };
  return sent(await api.send(chatId, askHtml(opened, page, remindsOf !== undefined), options));
}

/** Succeeds too if the message already says so or is gone. */
export async function replaceOnce(
  api: BotApi,
  { chatId, messageId }: { readonly chatId: number; readonly messageId: number },
  { html, buttons = [] }: { readonly html: string; readonly buttons?: Keyboard },
): Promise<void> {
  try {
    await api.replace(chatId, messageId, html, buttons);
  } catch (error) {
    if (!(error instanceof TelegramFailure && error.isEditDone)) throw error;
  }
}

function sent(messageId: number): SendResult {
  return { outcome: 'sent', messageId: String(messageId) };
}

/** A refusal is final only if Telegram refuses the chat or the message; a token can be fixed. */
function outcomeOf(error: unknown): SendResult {
  if (!(error instanceof TelegramFailure)) {
    const reason = error instanceof Error ? error.message : 'Telegram: unknown trouble';
    return { outcome: 'later', retryAfterSeconds: null, reason };
  }
  const { message: reason, retryAfterSeconds } = error;
  const isFinal = error.isChatGone || error.code === 400 || error.code === 413;
  return isFinal ? { outcome: 'refused', reason } : { outcome: 'later', retryAfterSeconds, reason };
}

const ID = /^-?\d{1,16}$/;

function parseId(text: string): number | null {
  const id = Number(text);
  return ID.test(text) && Number.isSafeInteger(id) && id !== 0 ? id : null;
}
