import type {
  ChannelView,
  Choice,
  DecisionOutcome,
  OpenedRequest,
} from '../../approvals/approvals.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { escapeHtml, fitText, shownLine } from './display-text.ts';
import { Recent } from './recent.ts';
import type { ChatRef, Chat } from './chat.ts';
import { statusLine, statusWords } from './status.ts';
import type { Message } from './update.ts';

const START = /^\/start(?:@\w+)?(?:\s+([\w-]{1,64}))?\s*$/;

const HELP =
  'I bring you requests from software agents and send back what you decide.\n\n' +
  'Decide with the buttons under a request. Answer a question by replying to it.\n' +
  'To get requests here, open the link you were given when this channel was added.';
const LINK_DEAD = "This link doesn't work any more. Ask for a new one.";
const NOT_YOURS = "This request no longer takes replies, or it isn't yours to decide.";
const WORDS_ONLY = 'I can only pass on text. Please reply again with text.';
const USE_BUTTONS =
  "Nothing was decided: a reply alone doesn't say yes or no. Tap Approve or Deny under the request. " +
  'To send your words to the agent instead, tap "Needs context" and reply again.';
const SORRY = "That didn't work. Please send it again.";

/** How often a stranger gets an answer, however much they write. */
const STRANGERS = { keptMs: 10_000, maxCount: 5000 };
const NAME_MAX_CHARS = 64;

type Verb = 'answer' | 'needs_context';

/** A reply by somebody who may decide. */
interface GoodReply {
  readonly message: Message;
  readonly token: string;
  readonly opened: OpenedRequest;
  /** The message that asked. */
  readonly asked: ChatRef;
}

/** Handles messages: a start link, an answer, or words that a button asked for. */
export class Texts {
  readonly #chat: Chat;
  readonly #answered: Recent<number, true>;

  constructor(chat: Chat, clock: Clock) {
    this.#chat = chat;
    this.#answered = new Recent(clock, STRANGERS);
  }

  /** Only in private chats: a question is for one person, and a group isn't one person. */
  async handle(message: Message): Promise<void> {
    if (message.chat.type !== 'private') return;
    const start = START.exec(message.text ?? '');
    if (start) return this.#start(message, start[1]);
    if (message.reply_to_message) return this.#reply(message, message.reply_to_message.message_id);
    this.#sayToStranger(message, HELP);
  }

  /** For a message whose outcome is unknown. */
  sorry(message: Message): void {
    if (message.chat.type === 'private') this.#sayToStranger(message, SORRY);
  }

  async #start(message: Message, token: string | undefined): Promise<void> {
    if (token === undefined) return this.#sayToStranger(message, HELP);
    const { chat, from } = message;
    const who = { chatId: chat.id, userId: from.id, name: nameOf(message) };
    const channel = await this.#chat.approvals.startTelegram(token, who);
    if (!channel) return this.#sayToStranger(message, LINK_DEAD);
    this.#chat.say(chat.id, welcome(channel));
  }

  async #reply(message: Message, repliedTo: number): Promise<void> {
    const { approvals } = this.#chat;
    const chatId = message.chat.id;
    const chat = { chatId, messageId: repliedTo };
    const expected = this.#chat.expected(chat);
    const token = expected?.token ?? (await approvals.tokenOfMessage(chatId, repliedTo));
    if (token === null) return this.#sayToStranger(message, HELP);
    const isTheirs = await approvals.isTelegram(token, { chatId, userId: message.from.id });
    const opened = isTheirs ? await approvals.open(token) : null;
    if (!opened) return this.#answer(message, NOT_YOURS);
    const reply = { message, token, opened, asked: expected?.asked ?? chat };
    const isQuestion = opened.request.kind === 'question';
    return this.#use(reply, expected?.verb ?? (isQuestion ? 'answer' : null));
  }

  async #use({ message, token, opened, asked }: GoodReply, verb: Verb | null): Promise<void> {
    if (opened.request.status !== 'pending') {
      return this.#tell(message, asked, { outcome: 'late', opened });
    }
    if (message.text === undefined) return this.#answer(message, WORDS_ONLY);
    if (verb === null) return this.#answer(message, USE_BUTTONS);
    const decided = await this.#chat.approvals.decide(
      token,
      choiceOf(verb, message.text),
      'telegram',
    );
    if (!decided) return this.#answer(message, NOT_YOURS);
    return this.#tell(message, asked, decided);
  }

  #tell(message: Message, asked: ChatRef, decided: DecisionOutcome): void {
    const { request } = decided.opened;
    if (decided.outcome === 'refused') return this.#answer(message, decided.problem);
    if (decided.outcome === 'late') {
      this.#answer(message, `Nothing changed. ${statusLine(request)}`);
    } else {
      const { icon, words } = statusWords(request);
      this.#answer(message, `${icon} ${words}. The agent will see it.`);
    }
    this.#chat.showOver(asked, decided.opened);
  }

  #answer(message: Message, text: string): void {
    this.#chat.say(message.chat.id, escapeHtml(text), message.message_id);
  }

  #sayToStranger(message: Message, text: string): void {
    const { id } = message.chat;
    if (this.#chat.calls.isBusy || this.#answered.get(id)) return;
    this.#answered.set(id, true);
    this.#chat.say(id, escapeHtml(text));
  }
}

function choiceOf(verb: Verb, text: string): Choice {
  return verb === 'answer' ? { verb, text } : { verb, comment: text };
}

function welcome({ label, project, status }: ChannelView): string {
  const names = `Project: <code>${shown(project.name)}</code>\nChannel: <code>${shown(label)}</code>`;
  const next =
    status === 'active'
      ? "You'll get requests here."
      : "The project's owner has to approve this channel before you get requests here.";
  return `✅ <b>Connected</b>\n${names}\n${next}`;
}

function shown(name: string): string {
  return escapeHtml(fitText(shownLine(name), NAME_MAX_CHARS));
}

function nameOf({ from }: Message): string {
  const names = [from.first_name, from.last_name ?? ''].filter((part) => part !== '');
  const name = names.length > 0 ? names.join(' ') : (from.username ?? String(from.id));
  return fitText(shownLine(name), NAME_MAX_CHARS);
}
