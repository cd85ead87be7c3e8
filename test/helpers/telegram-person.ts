import type { Button } from './telegram-payload.ts';
import type { ShownHtml } from './telegram-html.ts';

export interface FakeMessage {
  readonly message_id: number;
  readonly fromBot: boolean;
  html: string;
  shown: ShownHtml;
  buttons: readonly (readonly Button[])[];
  readonly isForceReply: boolean;
  readonly replyTo: number | null;
  edits: number;
}

export interface Toast {
  readonly text: string;
  readonly isAlert: boolean;
}

export interface FakeChat {
  readonly id: number;
  readonly type: string;
  readonly messages: Map<number, FakeMessage>;
  isBlocked: boolean;
}

/** What a person's device needs of Telegram. */
interface Network {
  push(update: Readonly<Record<string, unknown>>): number;
  newMessageId(): number;
  onToast(queryId: string, show: (toast: Toast) => void): void;
}

/** Somebody with a telephone. */
export class FakePerson {
  readonly user: { readonly id: number; readonly is_bot: boolean; readonly first_name: string };
  readonly chat: FakeChat;
  readonly toasts: Toast[] = [];
  readonly #telegram: Network;

  constructor(telegram: Network, user: FakePerson['user'], chat: FakeChat) {
    this.#telegram = telegram;
    this.user = user;
    this.chat = chat;
  }

  /** What the bot wrote here, oldest first. */
  get received(): FakeMessage[] {
    return [...this.chat.messages.values()].filter(({ fromBot }) => fromBot);
  }

  says(text: string | null, replyTo?: FakeMessage): number {
    const { id, type } = this.chat;
    const message_id = this.#telegram.newMessageId();
    const reply = replyTo && {
      reply_to_message: { message_id: replyTo.message_id, chat: { id, type }, date: 1 },
    };
    const content = text === null ? { photo: [{ file_id: 'x' }] } : { text };
    const message = {
      message_id,
      date: 1,
      chat: { id, type },
      from: this.user,
      ...content,
      ...reply,
    };
    return this.#telegram.push({ message });
  }

  /** Taps the button whose text has these words in it. */
  taps(message: FakeMessage, words: string): number {
    const button = message.buttons.flat().find(({ text }) => text.includes(words));
    if (button?.callback_data === undefined) throw new Error(`No button with "${words}".`);
    return this.sends(message, button.callback_data);
  }

  /** Sends what a button would, as a program of one's own can. */
  sends(message: FakeMessage, data: string): number {
    const id = `${this.user.id}-${this.#telegram.newMessageId()}`;
    this.#telegram.onToast(id, (toast) => this.toasts.push(toast));
    const { id: chatId, type } = this.chat;
    const shown = { message_id: message.message_id, date: 1, chat: { id: chatId, type } };
    return this.#telegram.push({
      callback_query: { id, from: this.user, chat_instance: '1', message: shown, data },
    });
  }
}
