import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { Api } from 'grammy';
import type { ForceReply } from 'grammy/types';
import { isObject } from '../../../shared/lib/guards.ts';
import type { Keyboard } from './buttons.ts';
import { fitText } from './display-text.ts';
import { failureOf, TelegramFailure } from './failure.ts';

const CALL_MAX_MS = 15_000;
/** How much longer than requested a long poll may take. */
const POLL_GRACE_MS = 10_000;
const ANSWER_MAX_BYTES = 16 * 1024 * 1024;
const TOAST_MAX_CHARS = 200;

/** The kinds of updates we request; Telegram keeps all others. */
const UPDATES = ['message', 'callback_query'] as const;

export interface BotApiOptions {
  readonly token: string;
  readonly apiRoot: string;
  /** For tests. */
  readonly callMaxMs?: number;
  /** Receives the outcome of each call; null is an answer. Calls aborted here report nothing. */
  readonly onOutcome?: (failure: TelegramFailure | null) => void;
}

/** grammY's type comes from an old package; the runtime's own signals work. */
type Signal = NonNullable<Parameters<Api['getMe']>[0]>;

type Markup = Keyboard | ForceReply | null;

/**
 * The few Bot API calls that we make, each with a deadline. They throw only `TelegramFailure`, so no error can carry the
 * token into a log.
 */
export class BotApi {
  readonly #api: Api;
  /** Texts that must not be shown: the token and its secret part. */
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
      // A redirect would send the token to its target.
      baseFetchConfig: { agent: this.#agent, redirect: 'error', size: ANSWER_MAX_BYTES },
    });
    // The library reads members of any answer.
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

  /** Updates as received, unchecked. */
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

  /** Confirms to Telegram all updates before this one. */
  async confirm(offset: number, maxMs: number): Promise<void> {
    const payload = { offset, limit: 1, timeout: 0, allowed_updates: UPDATES };
    await this.#call('getUpdates', (signal) => this.#api.getUpdates(payload, signal), { maxMs });
  }

  async setWebhook(url: string, secret: string): Promise<void> {
    const other = { secret_token: secret, allowed_updates: UPDATES };
    await this.#call('setWebhook', (signal) => this.#api.setWebhook(url, other, signal));
  }

  /** Keeps updates that wait at Telegram. */
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

  /** Replaces the text of a message and removes its buttons. */
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

  /** Resolves when no call is under way. */
  async idle(): Promise<void> {
    while (this.#open.size > 0) await Promise.allSettled(this.#open.values());
  }

  /** Aborts every call under way. Later ones fail at once. */
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

/** No previews: Telegram's servers would open links from the agent, and the person's own. */
const PLAIN = { parse_mode: 'HTML', link_preview_options: { is_disabled: true } } as const;

/** Checks the result, because the library passes on anything. */
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
