import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { bad, readMarkup, readText, Refusal, textOf, type Payload } from './telegram-payload.ts';
import { FakePerson, type FakeChat, type FakeMessage, type Toast } from './telegram-person.ts';

/** What goes wrong with a call instead of its answer, or after it was carried out. */
type Fault =
  | {
      readonly kind: 'error';
      readonly code: number;
      readonly description: string;
      readonly retryAfter?: number;
    }
  | { readonly kind: 'body'; readonly status: number; readonly body: string }
  | { readonly kind: 'redirect'; readonly to: string }
  | { readonly kind: 'hang' }
  | { readonly kind: 'close' }
  /** Carried out, and the answer is lost. */
  | { readonly kind: 'lost' };

interface Call {
  readonly method: string;
  readonly payload: Payload;
  readonly at: number;
}

const CONFLICT_POLL =
  'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running';
const CONFLICT_HOOK =
  "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first";
const NOT_MODIFIED =
  'message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message';

/** A Bot API of one bot, over real HTTP, with its chats and the people in them. */
export class FakeTelegram {
  readonly token: string;
  readonly url: string;
  readonly username = 'svc_test_bot';
  readonly calls: Call[] = [];
  /** Updates delivered to the webhook, and the answers. */
  readonly deliveries: { readonly update: unknown; readonly status: number }[] = [];
  /** After a quiet week Telegram starts at another number and ignores the offset it was given. */
  forgetOffsets = false;
  /** How many long polls their caller left before there was an answer. */
  pollsLeft = 0;
  webhook: { readonly url: string; readonly secret: string | null } | null = null;
  readonly #server: Server;
  readonly #chats = new Map<number, FakeChat>();
  readonly #faults: { method: string; fault: Fault; times: number }[] = [];
  readonly #updates: { readonly update_id: number }[] = [];
  readonly #queries = new Map<string, (toast: Toast) => void>();
  #poll: { answer: () => void; conflict: () => void } | null = null;
  #lastUpdate = 1000;
  #lastMessage = 0;
  #isStopped = false;

  private constructor(server: Server, token: string) {
    this.#server = server;
    this.token = token;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request, response) => void this.#serve(request, response));
  }

  static async start(token = '123456:AAfake-Token_of_the_bot'): Promise<FakeTelegram> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new FakeTelegram(server, token);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Makes the next `times` calls of a method (`*` for all) fail. */
  fail(method: string, fault: Fault, times = 1): void {
    this.#faults.push({ method, fault, times });
  }

  heal(): void {
    this.#faults.length = 0;
  }

  /** Cuts every connection that is open, as a network does. */
  cut(): void {
    this.#poll = null;
    this.#server.closeAllConnections();
  }

  count(method: string): number {
    return this.calls.filter((call) => call.method === method).length;
  }

  chat(id: number, type = 'private'): FakeChat {
    const known = this.#chats.get(id) ?? { id, type, messages: new Map(), isBlocked: false };
    this.#chats.set(id, known);
    return known;
  }

  person(id: number, name: string, chatId = id, chatType = 'private'): FakePerson {
    return new FakePerson(
      this,
      { id, is_bot: false, first_name: name },
      this.chat(chatId, chatType),
    );
  }

  /** Sends an update with the next number, or exactly this one. */
  push(update: Payload): number {
    this.#lastUpdate += 1;
    const numbered = { update_id: this.#lastUpdate, ...update };
    this.pushRaw(numbered);
    return numbered.update_id;
  }

  pushRaw(update: { readonly update_id: number }): void {
    const { update_id: id } = update;
    if (Number.isSafeInteger(id)) this.#lastUpdate = Math.max(this.#lastUpdate, id);
    if (this.webhook) {
      void this.#deliver(update);
      return;
    }
    this.#updates.push(update);
    this.#poll?.answer();
  }

  newMessageId(): number {
    this.#lastMessage += 1;
    return this.#lastMessage;
  }

  onToast(queryId: string, show: (toast: Toast) => void): void {
    this.#queries.set(queryId, show);
  }

  async #deliver(update: unknown): Promise<void> {
    while (this.webhook && !this.#isStopped) {
      const { url, secret } = this.webhook;
      const headers = {
        'content-type': 'application/json',
        ...(secret !== null && { 'x-telegram-bot-api-secret-token': secret }),
      };
      const body = JSON.stringify(update);
      const status = await fetch(url, { method: 'POST', headers, body }).then(
        (response) => response.status,
        () => 0,
      );
      this.deliveries.push({ update, status });
      if (status >= 200 && status < 300) return;
      await sleep(50);
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, token = '', method = ''] = /^\/bot([^/]+)\/(\w+)$/.exec(request.url ?? '') ?? [];
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const payload = (body === '' ? {} : JSON.parse(body)) as Payload;
    this.calls.push({ method, payload, at: performance.now() });
    const fault = this.#faultFor(method);
    if (fault && this.#misbehave(fault, response)) return;
    const isKnown = decodeURIComponent(token) === this.token;
    const { code, text } = await this.#answerTo(isKnown, method, payload, response);
    if (fault?.kind === 'lost') response.destroy();
    else if (!response.destroyed) respond(response, code, text);
  }

  async #answerTo(
    isKnown: boolean,
    method: string,
    payload: Payload,
    response: ServerResponse,
  ): Promise<{ code: number; text: unknown }> {
    try {
      if (!isKnown) throw new Refusal(401, 'Unauthorized');
      const result = await this.#carryOut(method, payload, response);
      return { code: 200, text: { ok: true, result } };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { code, message: description } = error;
      return { code, text: { ok: false, error_code: code, description } };
    }
  }

  #faultFor(method: string): Fault | null {
    const found = this.#faults.find((one) => one.method === method || one.method === '*');
    if (!found) return null;
    found.times -= 1;
    if (found.times <= 0) this.#faults.splice(this.#faults.indexOf(found), 1);
    return found.fault;
  }

  /** False for a fault that comes after the call. */
  #misbehave(fault: Fault, response: ServerResponse): boolean {
    switch (fault.kind) {
      case 'error': {
        const { code, description, retryAfter } = fault;
        const parameters = retryAfter === undefined ? {} : { retry_after: retryAfter };
        respond(response, code, { ok: false, error_code: code, description, parameters });
        return true;
      }
      case 'body':
        response.writeHead(fault.status, { 'content-type': 'text/html' }).end(fault.body);
        return true;
      case 'redirect':
        response.writeHead(302, { location: fault.to }).end();
        return true;
      case 'close':
        response.destroy();
        return true;
      case 'hang':
        return true;
      case 'lost':
        return false;
    }
  }

  #carryOut(method: string, payload: Payload, response: ServerResponse): unknown {
    switch (method) {
      case 'getMe':
        return { id: 123456, is_bot: true, first_name: 'svc', username: this.username };
      case 'getUpdates':
        return this.#getUpdates(payload, response);
      case 'setWebhook':
        return this.#setWebhook(payload);
      case 'deleteWebhook':
        this.webhook = null;
        return true;
      case 'sendMessage':
        return this.#sendMessage(payload);
      case 'editMessageText':
        return this.#edit(payload, true);
      case 'editMessageReplyMarkup':
        return this.#edit(payload, false);
      case 'answerCallbackQuery':
        return this.#answerQuery(payload);
      default:
        throw new Refusal(404, 'Not Found');
    }
  }

  async #getUpdates(payload: Payload, response: ServerResponse): Promise<unknown> {
    if (this.webhook) throw new Refusal(409, CONFLICT_HOOK);
    this.#poll?.conflict();
    const { offset, timeout = 0, limit = 100 } = payload as Record<string, number>;
    const isOpen = (update: { update_id: number }): boolean =>
      offset === undefined || update.update_id >= offset || this.forgetOffsets;
    this.#updates.splice(0, this.#updates.length, ...this.#updates.filter(isOpen));
    this.forgetOffsets = false;
    if (this.#updates.length === 0 && timeout > 0) await this.#park(timeout, response);
    return this.#updates.slice(0, limit);
  }

  /** Until an update comes, the time is over, the caller goes away or another one comes. */
  #park(seconds: number, response: ServerResponse): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => parked.answer(), seconds * 1000);
      const leave = (): void => {
        clearTimeout(timer);
        if (this.#poll === parked) this.#poll = null;
      };
      const parked = {
        answer: () => {
          leave();
          resolve();
        },
        conflict: () => {
          leave();
          reject(new Refusal(409, CONFLICT_POLL));
        },
      };
      response.once('close', () => {
        if (this.#poll === parked) this.pollsLeft += 1;
        parked.answer();
      });
      this.#poll = parked;
    });
  }

  #setWebhook(payload: Payload): true {
    const url = textOf(payload, 'url');
    const secret = textOf(payload, 'secret_token');
    if (!/^https?:\/\/[^/]*\./.test(url)) {
      throw bad('bad webhook: An HTTPS URL must be provided for webhook');
    }
    if (!/^[\w-]{0,256}$/.test(secret)) throw bad('secret token contains unallowed characters');
    this.webhook = { url, secret: secret === '' ? null : secret };
    return true;
  }

  #reachable(payload: Payload): FakeChat {
    const chat = this.#chats.get(Number(payload['chat_id']));
    if (!chat) throw bad('chat not found');
    if (chat.isBlocked) throw new Refusal(403, 'Forbidden: bot was blocked by the user');
    return chat;
  }

  #sendMessage(payload: Payload): unknown {
    const chat = this.#reachable(payload);
    const shown = readText(payload);
    const { buttons, isForceReply } = readMarkup(payload);
    const reply = payload['reply_parameters'] as { message_id: number } | undefined;
    const message: FakeMessage = {
      message_id: this.newMessageId(),
      fromBot: true,
      html: textOf(payload, 'text'),
      shown,
      buttons,
      isForceReply,
      replyTo: reply?.message_id ?? null,
      edits: 0,
    };
    chat.messages.set(message.message_id, message);
    return { message_id: message.message_id, date: 1, chat: { id: chat.id, type: chat.type } };
  }

  #edit(payload: Payload, withText: boolean): unknown {
    const chat = this.#reachable(payload);
    const message = chat.messages.get(Number(payload['message_id']));
    if (!message) throw bad('message to edit not found');
    if (!message.fromBot) throw bad("message can't be edited");
    const shown = withText ? readText(payload) : message.shown;
    const html = withText ? textOf(payload, 'text') : message.html;
    const { buttons } = readMarkup(payload);
    const before = JSON.stringify([message.html, message.buttons]);
    if (before === JSON.stringify([html, buttons])) throw bad(NOT_MODIFIED);
    Object.assign(message, { shown, html, buttons, edits: message.edits + 1 });
    return { message_id: message.message_id, date: 1, chat: { id: chat.id, type: chat.type } };
  }

  #answerQuery(payload: Payload): true {
    const id = textOf(payload, 'callback_query_id');
    const show = this.#queries.get(id);
    if (!show) throw bad('query is too old and response timeout expired or query ID is invalid');
    this.#queries.delete(id);
    const text = textOf(payload, 'text');
    if (text.length > 200) throw bad('MESSAGE_TOO_LONG');
    show({ text, isAlert: payload['show_alert'] === true });
    return true;
  }
}

function respond(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
