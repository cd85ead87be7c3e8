import type { Choice, OpenedRequest } from '../../approvals/approvals.ts';
import {
  askButtons,
  confirmButtons,
  parseTap,
  type GoAhead,
  type Keyboard,
  type Tap,
  type Unsure,
} from './buttons.ts';
import { pageLink, type PageLink } from './page-link.ts';
import type { ChatRef, Chat } from './chat.ts';
import { recordedText, statusLine, statusWords } from './status.ts';
import type { CallbackQuery } from './update.ts';

const UNKNOWN = 'This button is unknown here.';
const NOT_YOURS = "This button no longer works, or it isn't yours to use.";
const SURE = 'High risk. Read it once more, then tap "Really approve" below.';
const STOP = 'This denies it, and for 24 hours whatever the session asks. Tap "Really stop" below.';
const SORRY = "That didn't work. Please tap again.";

const PROMPTS = {
  answer: { text: 'Reply to this message with your answer.', hint: 'Your answer' },
  needs_context: {
    text: 'Reply to this message with what you need to know. This closes the request. The agent can ask again with more details.',
    hint: 'What you need to know',
  },
} as const;

/** A tap by somebody who may decide, on a pending request. */
interface AllowedTap {
  readonly query: CallbackQuery;
  readonly token: string;
  readonly opened: OpenedRequest;
  readonly asked: ChatRef;
}

/** Handles taps on buttons. */
export class CallbackQueries {
  readonly #chat: Chat;

  constructor(chat: Chat) {
    this.#chat = chat;
  }

  async handle(query: CallbackQuery): Promise<void> {
    const { approvals } = this.#chat;
    const parsed = parseTap(query.data);
    if (!parsed) return this.#toast(query, UNKNOWN, true);
    const { tap, token } = parsed;
    const asked = { chatId: query.message.chat.id, messageId: query.message.message_id };
    const isTheirs = await approvals.isTelegram(token, {
      chatId: asked.chatId,
      userId: query.from.id,
    });
    const opened = isTheirs ? await approvals.open(token) : null;
    if (!opened) return this.#toast(query, NOT_YOURS, true);
    if (opened.request.status !== 'pending') return this.#tooLate(query, opened, asked);
    return this.#act(tap, { query, token, opened, asked });
  }

  /** For a tap whose outcome is unknown. */
  sorry(query: CallbackQuery): void {
    this.#toast(query, SORRY, true);
  }

  async #act(tap: Tap, good: AllowedTap): Promise<void> {
    switch (tap.verb) {
      case 'approve':
      case 'option':
        if (good.opened.votedAt !== null) return this.#counted(good, good.opened);
        if (good.opened.request.risk === 'high' && !tap.sure) return this.#askAgain(tap, good);
        return this.#decide(choiceOf(tap), good);
      case 'hour':
        return this.#decide({ verb: 'approve', lasts: true }, good);
      case 'stop':
        return this.#stop(tap, good);
      case 'deny':
        return this.#decide({ verb: 'deny' }, good);
      case 'answer':
      case 'needs_context':
        return this.#prompt(tap.verb, good);
      case 'back':
        return this.#putBack(good);
    }
  }

  async #stop(tap: Unsure, good: AllowedTap): Promise<void> {
    if (!tap.sure) return this.#askAgain(tap, good);
    return this.#decide({ verb: 'deny', lasts: true }, good);
  }

  async #decide(choice: Choice, good: AllowedTap): Promise<void> {
    const { query, token, asked } = good;
    const decided = await this.#chat.approvals.decide(token, choice, 'telegram');
    if (!decided) return this.#toast(query, NOT_YOURS, true);
    if (decided.outcome === 'late') return this.#tooLate(query, decided.opened, asked);
    if (decided.outcome === 'refused') return this.#toast(query, decided.problem, true);
    if (decided.outcome === 'counted') return this.#counted(good, decided.opened);
    const { icon, words } = statusWords(decided.opened.request);
    this.#toast(query, `${icon} ${words}`);
    this.#chat.showOver(asked, decided.opened);
  }

  #counted({ query, token, asked }: AllowedTap, opened: OpenedRequest): void {
    this.#toast(query, recordedText(opened.request));
    this.#chat.showVoted(asked, opened, token);
  }

  #tooLate(query: CallbackQuery, opened: OpenedRequest, asked: ChatRef): void {
    this.#toast(query, `Nothing changed. ${statusLine(opened.request)}`, true);
    this.#chat.showOver(asked, opened);
  }

  #askAgain(tap: Unsure, good: AllowedTap): void {
    this.#toast(good.query, tap.verb === 'stop' ? STOP : SURE);
    const { token, opened, asked } = good;
    this.#setButtons(asked, confirmButtons(opened.request, token, this.#page(token), tap));
  }

  #putBack({ query, token, opened, asked }: AllowedTap): void {
    this.#toast(query, 'Nothing was decided.');
    this.#setButtons(asked, askButtons(opened, token, this.#page(token)));
  }

  /** Opens the reply field on the person's device. A reply to the request itself works too. */
  #prompt(verb: 'answer' | 'needs_context', { query, token, asked }: AllowedTap): void {
    const { api, calls } = this.#chat;
    const { text, hint } = PROMPTS[verb];
    const expected = { token, verb, asked };
    this.#chat.expect(asked, expected);
    this.#toast(query, 'Reply with your words.');
    const markup = { force_reply: true, input_field_placeholder: hint } as const;
    calls.run(asked.chatId, async () => {
      const messageId = await api.send(asked.chatId, text, { markup, replyTo: asked.messageId });
      this.#chat.expect({ chatId: asked.chatId, messageId }, expected);
    });
  }

  #page(token: string): PageLink {
    return pageLink(this.#chat.publicUrl, token);
  }

  #setButtons({ chatId, messageId }: ChatRef, buttons: Keyboard): void {
    const { api, calls } = this.#chat;
    calls.run(chatId, () => api.setButtons(chatId, messageId, buttons));
  }

  #toast(query: CallbackQuery, text: string, isAlert = false): void {
    const { api, calls } = this.#chat;
    calls.run(query.message.chat.id, () => api.toast(query.id, text, isAlert));
  }
}

function choiceOf(tap: GoAhead): Choice {
  return tap.verb === 'approve' ? { verb: 'approve' } : { verb: 'option', index: tap.index };
}
