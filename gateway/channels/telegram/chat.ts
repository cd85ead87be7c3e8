import type { Clock } from '../../../shared/lib/clock.ts';
import type { ApprovalService, OpenedRequest } from '../../approvals/approvals.ts';
import type { BotApi } from './bot-api.ts';
import { replaceOnce } from './carrier.ts';
import type { CallQueue } from './call-queue.ts';
import { askButtons } from './buttons.ts';
import { askHtml, overHtml } from './messages.ts';
import { pageLink } from './page-link.ts';
import { Recent } from './recent.ts';

/** A message in a chat. */
export interface ChatRef {
  readonly chatId: number;
  readonly messageId: number;
}

/** How to read the next reply to a message, after a tap on a button that asks for words. */
interface ExpectedReply {
  readonly token: string;
  readonly verb: 'answer' | 'needs_context';
  /** The request's message, which may not be the one that is replied to. */
  readonly asked: ChatRef;
}

/** After tapping "Needs context", a person who takes longer than this must tap again. */
const EXPECTED_MS = 3_600_000;
const EXPECTED_MAX = 5000;

interface ChatDeps {
  readonly api: BotApi;
  readonly approvals: ApprovalService;
  readonly clock: Clock;
  readonly calls: CallQueue;
  readonly publicUrl: string;
}

/** Shared by button taps and text messages: the approval service, the calls to answer a person, and the expected replies. */
export class Chat {
  readonly api: BotApi;
  readonly approvals: ApprovalService;
  readonly calls: CallQueue;
  readonly publicUrl: string;
  /** Only in memory: after a restart, a person is asked to tap again. */
  readonly #expected: Recent<string, ExpectedReply>;

  constructor(deps: ChatDeps) {
    this.api = deps.api;
    this.approvals = deps.approvals;
    this.calls = deps.calls;
    this.publicUrl = deps.publicUrl;
    const limits = { keptMs: EXPECTED_MS, maxCount: EXPECTED_MAX };
    this.#expected = new Recent(deps.clock, limits);
  }

  expect(chat: ChatRef, expected: ExpectedReply): void {
    this.#expected.set(keyOf(chat), expected);
  }

  expected(chat: ChatRef): ExpectedReply | null {
    return this.#expected.get(keyOf(chat));
  }

  /**
   * Ends exactly the message that was used. The notification about the end of the request edits the message recorded when
   * it was sent; after a lost answer that may be its duplicate.
   */
  showOver(asked: ChatRef, opened: OpenedRequest): void {
    this.#expected.delete(keyOf(asked));
    const { chatId } = asked;
    this.calls.run(chatId, () => replaceOnce(this.api, asked, { html: overHtml(opened) }));
  }

  /** Shows in exactly the message that was used that the approval counts and that more people must approve. */
  showVoted(asked: ChatRef, opened: OpenedRequest, token: string): void {
    const page = pageLink(this.publicUrl, token);
    const edit = { html: askHtml(opened, page), buttons: askButtons(opened, token, page) };
    this.calls.run(asked.chatId, () => replaceOnce(this.api, asked, edit));
  }

  say(chatId: number, html: string, replyTo?: number): void {
    const options = replyTo === undefined ? {} : { replyTo };
    this.calls.run(chatId, () => this.api.send(chatId, html, options));
  }
}

function keyOf({ chatId, messageId }: ChatRef): string {
  return `${chatId}/${messageId}`;
}
