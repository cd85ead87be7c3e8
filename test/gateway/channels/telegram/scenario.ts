import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { vi } from 'vitest';
import type { RequestView } from '../../../../gateway/approvals/approvals.ts';
import type { SendResult } from '../../../../gateway/lib/send-result.ts';
import { TelegramBot, type BotProblem } from '../../../../gateway/channels/telegram/bot.ts';
import { FakeTelegram } from '../../../helpers/fake-telegram.ts';
import { FakeClock } from '../../../helpers/gateway.ts';
import type { FakeMessage, FakePerson } from '../../../helpers/telegram-person.ts';
import { MemoryApprovals } from './memory-approvals.ts';

interface ScenarioOptions {
  readonly mode?: 'poll' | 'webhook';
  readonly publicUrl?: string;
  readonly callMaxMs?: number;
  readonly token?: string;
}

/** For `expect.poll`: what will be so before long. */
export const SOON = { interval: 5, timeout: 60_000 } as const;

/** A person who is asked, and the channel they are asked by. */
export interface Asked {
  readonly person: FakePerson;
  readonly channelId: string;
}

interface Ask {
  readonly requestId: string;
  readonly token: string;
  readonly message: FakeMessage;
}

/** A bot, the Telegram it talks to and the desk it works for, with an outbox that sends what is over. */
export class Scenario {
  readonly telegram: FakeTelegram;
  readonly approvals: MemoryApprovals;
  readonly bot: TelegramBot;
  readonly clock: FakeClock;
  readonly troubles: BotProblem[] = [];
  readonly #door: Server;
  readonly #sent: { requestId: string; chatId: number; channelId: string; messageId: string }[] =
    [];
  /** While true, nothing is sent to say that a request is over. */
  isOutboxStopped = false;

  private constructor(telegram: FakeTelegram, door: Server, options: ScenarioOptions) {
    const { mode = 'poll', callMaxMs } = options;
    this.telegram = telegram;
    this.clock = new FakeClock();
    this.approvals = new MemoryApprovals(this.clock);
    this.#door = door;
    const own = `http://127.0.0.1:${(door.address() as AddressInfo).port}`;
    const publicUrl = mode === 'webhook' ? own : (options.publicUrl ?? 'https://svc.example.com');
    this.bot = new TelegramBot({
      config: { token: telegram.token, apiRoot: telegram.url, mode, publicUrl },
      approvals: this.approvals,
      clock: this.clock,
      onTrouble: (trouble) => this.troubles.push(trouble),
      pauses: { firstMs: 20, maxMs: 100 },
      ...(callMaxMs !== undefined && { callMaxMs }),
    });
    const { webhook } = this.bot;
    const answer = webhook === null ? notFound : (request: Request) => webhook.handle(request);
    const listener = getRequestListener(answer, { overrideGlobalObjects: false });
    door.on('request', (request, response) => void listener(request, response));
    this.approvals.onOver = (requestId) => void this.#sendOver(requestId);
  }

  /** Not started yet. */
  static async prepare(options: ScenarioOptions = {}): Promise<Scenario> {
    const telegram = await FakeTelegram.start(options.token);
    const door = createServer();
    await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
    const scenario = new Scenario(telegram, door, options);
    await scenario.bot.task?.start();
    return scenario;
  }

  static async start(options: ScenarioOptions = {}): Promise<Scenario> {
    const scenario = await Scenario.prepare(options);
    await scenario.bot.start();
    return scenario;
  }

  async stop(): Promise<void> {
    await this.bot.stop();
    this.#door.closeAllConnections();
    await new Promise((resolve) => this.#door.close(resolve));
    await this.telegram.stop();
  }

  /** Somebody who opened the link of a new channel, which the owner then approved. */
  async connect(id: number, name: string, chatId = id): Promise<Asked> {
    const { channelId, startToken } = this.approvals.addChannel(name);
    const person = this.telegram.person(id, name);
    person.says(`/start ${startToken}`);
    await vi.waitUntil(() => person.received.length === 1, SOON);
    const channel = this.channel(channelId);
    channel.status = 'active';
    channel.chat = { chatId, userId: id, name };
    return { person, channelId };
  }

  channel(id: string) {
    const channel = this.approvals.channels.get(id);
    if (!channel) throw new Error('no such channel');
    return channel;
  }

  /** Asks somebody, and finds the message on their device. */
  async ask(asked: Asked, fields: Partial<RequestView> = {}): Promise<Ask> {
    const { requestId, token } = this.approvals.ask(asked.channelId, fields);
    return { requestId, token, message: await this.send(asked, requestId, token) };
  }

  /** Sends a request once more, as after a lost answer. */
  async send({ person, channelId }: Asked, requestId: string, token: string): Promise<FakeMessage> {
    const opened = this.approvals.openedBy(requestId, channelId);
    const sent = await this.deliver(person, { kind: 'ask', opened, token });
    if (sent.outcome !== 'sent' || sent.messageId === null) throw new Error(JSON.stringify(sent));
    const message = person.chat.messages.get(Number(sent.messageId));
    if (!message) throw new Error('the message did not arrive');
    const chatId = person.chat.id;
    this.approvals.sentAs(chatId, message.message_id, token);
    this.#sent.push({ requestId, chatId, channelId, messageId: sent.messageId });
    return message;
  }

  deliver(
    person: FakePerson,
    message: Parameters<TelegramBot['carrier']['send']>[0],
  ): Promise<SendResult> {
    return this.bot.carrier.send(message, { address: String(person.chat.id), id: 'ntc_1' });
  }

  status(requestId: string): string {
    return this.approvals.request(requestId).status;
  }

  async #sendOver(requestId: string): Promise<void> {
    if (this.isOutboxStopped) return;
    for (const { chatId, channelId, messageId } of this.#sent.filter(
      (one) => one.requestId === requestId,
    )) {
      const opened = this.approvals.openedBy(requestId, channelId);
      const to = { address: String(chatId), id: 'ntc_2' };
      await this.bot.carrier.send({ kind: 'over', opened, messageId }, to);
    }
  }
}

function notFound(): Promise<Response> {
  return Promise.resolve(new Response(null, { status: 404 }));
}
