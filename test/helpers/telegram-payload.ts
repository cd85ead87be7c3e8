import { parseTelegramHtml, type ShownHtml } from './telegram-html.ts';
import { parsedUrl } from '../../shared/lib/urls.ts';

export type Payload = Readonly<Record<string, unknown>>;

export interface Button {
  readonly text: string;
  readonly callback_data?: string;
  readonly url?: string;
}

/** An `ok: false` answer of the Bot API. */
export class Refusal extends Error {
  readonly code: number;

  constructor(code: number, description: string) {
    super(description);
    this.code = code;
  }
}

export function bad(description: string): Refusal {
  return new Refusal(400, `Bad Request: ${description}`);
}

/** A text field; empty if it's missing. */
export function textOf(payload: Payload, name: string): string {
  const value = payload[name];
  return typeof value === 'string' ? value : '';
}

/** The text of a message as it would be shown, within Telegram's limits. */
export function readText(payload: Payload): ShownHtml {
  const text = textOf(payload, 'text');
  if (text.length > 4096) throw bad('message is too long');
  const shown =
    payload['parse_mode'] === 'HTML' ? readHtml(text) : { text: text.trim(), entities: [] };
  if (shown.text === '') throw bad('message text is empty');
  for (const { href } of shown.entities) if (href !== null) checkUrl(href, 'entity');
  return shown;
}

function readHtml(text: string): ShownHtml {
  try {
    return parseTelegramHtml(text);
  } catch (error) {
    throw bad(`can't parse entities: ${error instanceof Error ? error.message : ''}`);
  }
}

/** The buttons under a message, as far as Telegram takes them. */
export function readMarkup(payload: Payload): {
  buttons: readonly (readonly Button[])[];
  isForceReply: boolean;
} {
  const markup = (payload['reply_markup'] ?? {}) as {
    inline_keyboard?: readonly (readonly Button[])[];
    force_reply?: boolean;
  };
  const buttons = markup.inline_keyboard ?? [];
  for (const button of buttons.flat()) checkButton(button);
  return { buttons, isForceReply: markup.force_reply === true };
}

function checkButton({ text, callback_data: data, url }: Button): void {
  if (text === '') throw bad('inline keyboard button text must be non-empty');
  if ((data === undefined) === (url === undefined)) throw bad('BUTTON_TYPE_INVALID');
  if (url !== undefined) checkUrl(url, 'inline keyboard button');
  if (data === undefined) return;
  const bytes = Buffer.byteLength(data);
  if (bytes < 1 || bytes > 64) throw bad('BUTTON_DATA_INVALID');
}

function checkUrl(url: string, what: string): void {
  const host = parsedUrl(url)?.hostname ?? '';
  if (!host.includes('.') && !host.startsWith('[')) {
    throw bad(`${what} URL '${url}' is invalid: Wrong HTTP URL`);
  }
}
