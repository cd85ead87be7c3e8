import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { Api } from 'grammy';
import type { ForceReply } from 'grammy/types';
import { isObject } from '../../../shared/lib/guards.ts';
import type { Keyboard } from './buttons.ts';
import { fitText } from './display-text.ts';
import { failureOf, TelegramFailure } from './failure.ts';

const CALL_MAX_MS = 15_000;
/** What a long poll may take beyond the time it asks for. */
const POLL_GRACE_MS = 10_000;
const ANSWER_MAX_BYTES = 16 * 1024 * 1024;
const TOAST_MAX_CHARS = 200;

/** The kinds of updates that are asked for: everything else stays at Telegram. */
const UPDATES = ['message', 'callback_query'] as const;

export interface BotApiOptions {
  readonly token: string;
  readonly apiRoot: string;
  /** There for tests. */
  readonly callMaxMs?: number;
  /** Told how each call ended; null is an answer. Calls that were aborted here tell nothing. */
  readonly onOutcome?: (failure: TelegramFailure | null) => void;
}

/** grammY names the type of a package of old; the signals of the runtime serve. */
type Signal = NonNullable<Parameters<Api['getMe']>[0]>;

type Markup = Keyboard | ForceReply | null;

/**
 * The few calls of the Bot API that are made here, each with a deadline. They throw `TelegramFailure` and nothing else, so the
 * token cannot get into a log by an error.
 */
export class BotApi {
  readonly #api: Api;
  /** What must not be shown: the token, and the part of it that is secret. */
  readonly #secrets: readonly string[];
  readonly #callMaxMs: number;
  readonly #agent: HttpAgent;
  readonly #onOutcome: (failure: TelegramFailure | null) => void;
  readonly #open = new Map<AbortController, Promise<unknown>>();
  #isClosed = false;

  constructor({
    token,
    apiRoot,
    callMaxMs = CALL_MAX_MS,
    onOutcome = () => undefined,
  }: BotApiOptions) {
    const secret = token.slice(token.indexOf(':') + 1);
    this.#secrets = [token, secret].filter((text) => text !== '');
    this.#callMaxMs = callMaxMs;
    this.#onOutcome = onOutcome;
    this.#agent = apiRoot.startsWith('http:')
      ? new HttpAgent({ keepAlive: true })
      : new HttpsAgent({ keepAlive: true });
    this.#api = new Api(token, {
      apiRoot: apiRoot.replace(/\/+$/, ''),
      // Whoever answers with a redirect would be sent the token.
      baseFetchConfig: { agent: this.#agent, redirect: 'error', size: ANSWER_MAX_BYTES },
    });
    // The library reads members of whatever was answered.
    this.#api.config.use(async (call, method, ...rest) => {
      const answer = await call(method, ...rest);
      if (isObject(answer)) return answer;
      throw senseless(method);
    });
  }

  /** The name of the bot, without `@`. */
  async username(): Promise<string> {
    const me: unknown = await this.#call('getMe', (signal) => this.#api.getMe(signal));
    const name = isObject(me) ? me['username'] : null;
    if (typeof name === 'string') return name;
    throw senseless('getMe');
  }

  /** Updates as they came: nothing is known of them yet. */
  async updates(
    offset: number | null,
    timeoutSeconds: number,
    signal?: AbortSignal,
  ): Promise<readonly unknown[]> {
    const payload = {
      timeout: timeoutSeconds,
      allowed_updates: UPDATES,
      ...(offset !== null && { offset }),
    };
    const maxMs = timeoutSeconds * 1000 + Math.min(POLL_GRACE_MS, this.#callMaxMs);
    const call = (abort: Signal): Promise<unknown> => this.#api.getUpdates(payload, abort);
    const updates = await this.#call('getUpdates', call, { maxMs, ...(signal && { signal }) });
    if (Array.isArray(updates)) return updates;
    throw senseless('getUpdates');
  }

  /** Tells Telegram that everything before this update has been dealt with. */
  async confirm(offset: number, maxMs: number): Promise<void> {
    const payload = { offset, limit: 1, timeout: 0, allowed_updates: UPDATES };
    await this.#call('getUpdates', (signal) => this.#api.getUpdates(payload, signal), { maxMs });
  }

  async setWebhook(url: string, secret: string): Promise<void> {
    const other = { secret_token: secret, allowed_updates: UPDATES };
    await this.#call('setWebhook', (signal) => this.#api.setWebhook(url, other, signal));
  }

  /** Updates that wait there are kept. */
  async deleteWebhook(): Promise<void> {
    await this.#call('deleteWebhook', (signal) => this.#api.deleteWebhook({}, signal));
  }

  /** Sends a message and returns its id. */
  async send(
    chatId: number,
    html: string,
    options: { readonly markup?: Markup; readonly replyTo?: number } = {},
  ): Promise<number> {
    const { markup = null, replyTo } = options;
    const other = {
      ...PLAIN,
      ...(markup !== null && { reply_markup: isKeyboard(markup) ? inline(markup) : markup }),
      ...(replyTo !== undefined && {
        reply_parameters: { message_id: replyTo, allow_sending_without_reply: true },
      }),
    };
    const sent: unknown = await this.#call('sendMessage', (signal) =>
      this.#api.sendMessage(chatId, html, other, signal),
    );
    const id = isObject(sent) ? sent['message_id'] : null;
    if (typeof id === 'number' && Number.isSafeInteger(id)) return id;
    throw senseless('sendMessage');
  }

  /** Replaces the text of a message and takes its buttons away. */
  async replace(
    chatId: number,
    messageId: number,
    html: string,
    buttons: Keyboard = [],
  ): Promise<void> {
    const other = { ...PLAIN, reply_markup: inline(buttons) };
    await this.#call('editMessageText', (signal) =>
      this.#api.editMessageText(chatId, messageId, html, other, signal),
    );
  }

  async setButtons(chatId: number, messageId: number, buttons: Keyboard): Promise<void> {
    const other = { reply_markup: inline(buttons) };
    await this.#call('editMessageReplyMarkup', (signal) =>
      this.#api.editMessageReplyMarkup(chatId, messageId, other, signal),
    );
  }

  /** The answer to a tap; `isAlert` shows it until the person closes it. */
  async toast(queryId: string, text: string, isAlert = false): Promise<void> {
    const other = { text: fitText(text, TOAST_MAX_CHARS), show_alert: isAlert };
    await this.#call('answerCallbackQuery', (signal) =>
      this.#api.answerCallbackQuery(queryId, other, signal),
    );
  }

  /** Resolves when no call is open. */
  async idle(): Promise<void> {
    while (this.#open.size > 0) await Promise.allSettled(this.#open.values());
  }

  /** Ends every call that is open. Later ones fail at once. */
  close(): void {
    this.#isClosed = true;
    for (const controller of this.#open.keys()) controller.abort();
    this.#agent.destroy();
  }

  async #call<T>(
    method: string,
    call: (signal: Signal) => Promise<T>,
    { maxMs = this.#callMaxMs, signal }: { maxMs?: number; signal?: AbortSignal } = {},
  ): Promise<T> {
    const controller = new AbortController();
    const abort = (): void => controller.abort();
    if (this.#isClosed || signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
    const timer = setTimeout(abort, maxMs);
    try {
      const answer = call(controller.signal as unknown as Signal);
      this.#open.set(controller, answer);
      const result = await answer;
      this.#onOutcome(null);
      return result;
    } catch (error) {
      const failure = failureOf(method, error, (text) => this.#redact(text));
      if (!this.#isClosed && !signal?.aborted) this.#onOutcome(failure);
      throw failure;
    } finally {
      clearTimeout(timer);
      this.#open.delete(controller);
      signal?.removeEventListener('abort', abort);
    }
  }

  #redact(text: string): string {
    return this.#secrets.reduce((shown, secret) => shown.replaceAll(secret, '<token>'), text);
  }
}

/** No preview: it would make Telegram's servers open links that an agent wrote, and the person's own. */
const PLAIN = { parse_mode: 'HTML', link_preview_options: { is_disabled: true } } as const;

/** The library passes on whatever was called a result. */
function senseless(method: string): TelegramFailure {
  const description = 'an answer without sense';
  return new TelegramFailure(method, { code: null, description, retryAfterSeconds: null });
}

function isKeyboard(markup: Keyboard | ForceReply): markup is Keyboard {
  return Array.isArray(markup);
}

function inline(keyboard: Keyboard): { inline_keyboard: Keyboard[number][number][][] } {
  return { inline_keyboard: keyboard.map((row) => [...row]) };
}
