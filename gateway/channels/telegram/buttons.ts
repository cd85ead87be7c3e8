import type { InlineKeyboardButton } from 'grammy/types';
import type { OpenedRequest, RequestView } from '../../approvals/approvals.ts';
import { fitText, shownLine } from './display-text.ts';
import type { PageLink } from './page-link.ts';

/** A tap that lets the agent go on. `sure` is the second tap that a high risk requires. */
export type GoAhead =
  | { readonly verb: 'approve'; readonly sure: boolean }
  | { readonly verb: 'option'; readonly index: number; readonly sure: boolean };

/** A tap that asks for a second one. */
export type Unsure = GoAhead | { readonly verb: 'stop'; readonly sure: boolean };

/** The meaning of a tap on a button. */
export type Tap =
  | Unsure
  | { readonly verb: 'hour' }
  | { readonly verb: 'deny' }
  | { readonly verb: 'needs_context' }
  | { readonly verb: 'answer' }
  | { readonly verb: 'back' };

/** A longer one would be cut on a phone. */
const HOUR_MAX_CHARS = 64;

export type Keyboard = readonly (readonly InlineKeyboardButton[])[];

/** The verb takes at most three of the 64 bytes that Telegram allows for a button. */
const DATA = /^(a|A|d|h|n|r|s|S|x|[oO]\d):([\w-]{1,61})$/;

/** Second taps have capitals, so two taps on the same button never count as first and second. */
export function tapData(tap: Tap, token: string): string {
  return `${verbOf(tap)}:${token}`;
}

function verbOf(tap: Tap): string {
  switch (tap.verb) {
    case 'approve':
      return tap.sure ? 'A' : 'a';
    case 'option':
      return `${tap.sure ? 'O' : 'o'}${tap.index}`;
    case 'stop':
      return tap.sure ? 'S' : 's';
    case 'hour':
      return 'h';
    case 'deny':
      return 'd';
    case 'needs_context':
      return 'n';
    case 'answer':
      return 'r';
    case 'back':
      return 'x';
  }
}

const PLAIN_TAPS: Readonly<Record<string, Tap>> = {
  a: { verb: 'approve', sure: false },
  A: { verb: 'approve', sure: true },
  d: { verb: 'deny' },
  h: { verb: 'hour' },
  s: { verb: 'stop', sure: false },
  S: { verb: 'stop', sure: true },
  n: { verb: 'needs_context' },
  r: { verb: 'answer' },
  x: { verb: 'back' },
};

/** Reverses `tapData`; null for any other text. */
export function parseTap(data: string): { tap: Tap; token: string } | null {
  const [, verb = '', token = ''] = DATA.exec(data) ?? [];
  if (token === '') return null;
  const index = Number(verb.slice(1));
  const tap = PLAIN_TAPS[verb] ?? { verb: 'option', index, sure: verb.startsWith('O') };
  return { tap, token };
}

/** The buttons of a pending request; a person who has approved can only take that back. */
export function askButtons(
  { request, votedAt }: OpenedRequest,
  token: string,
  page: PageLink,
): Keyboard {
  const first =
    votedAt === null ? choices(request, token) : [[button('⛔ Deny', { verb: 'deny' }, token)]];
  return [...first, lastChoices(request, token), ...pageRow(page)];
}

/**
 * The same buttons in the same places, except for the row that asks again: a hasty double tap hits the same button
 * twice.
 */
export function confirmButtons(
  request: RequestView,
  token: string,
  page: PageLink,
  tap: Unsure,
): Keyboard {
  const sure = button(`⚠️ ${confirmText(request, tap)}`, { ...tap, sure: true }, token);
  const back = button('↩️ Back', { verb: 'back' }, token);
  // The second button of the row before is the one that stops, or none.
  const row = tap.verb === 'stop' ? [sure, back] : [back, sure];
  return [...choices(request, token), row, ...pageRow(page)];
}

function confirmText(request: RequestView, tap: Unsure): string {
  if (tap.verb === 'stop') return 'Really stop the session?';
  if (tap.verb !== 'option') return 'Really approve?';
  return `Really approve as ${optionText(request.options, tap.index)}?`;
}

function choices(request: RequestView, token: string): InlineKeyboardButton[][] {
  const isQuestion = request.kind === 'question';
  const decide = [
    button('✅ Approve', { verb: 'approve', sure: false }, token),
    button('⛔ Deny', { verb: 'deny' }, token),
  ];
  const options = request.options.map((_, index) => {
    const text = optionText(request.options, index);
    // The agent writes the words, and they could be "Deny", so the button's effect comes first.
    const label = isQuestion ? text : `✅ Approve as ${text}`;
    return [button(label, { verb: 'option', index, sure: false }, token)];
  });
  return isQuestion ? options : [decide, ...hour(request, token), ...options];
}

/** Nobody taps what isn't all there. */
function hour({ like }: RequestView, token: string): InlineKeyboardButton[][] {
  const text = `✅ Approve, and for an hour also ${shownLine(like ?? '')}`;
  const isWhole = like !== null && fitText(text, HOUR_MAX_CHARS) === text;
  return isWhole ? [[button(text, { verb: 'hour' }, token)]] : [];
}

function lastChoices(request: RequestView, token: string): InlineKeyboardButton[] {
  const context = button('❓ Needs context', { verb: 'needs_context' }, token);
  const stop = button('🛑 Stop the session', { verb: 'stop', sure: false }, token);
  if (request.kind !== 'question') return request.thread === null ? [context] : [context, stop];
  return [button('✏️ Answer', { verb: 'answer' }, token), context];
}

function pageRow({ url, isTappable }: PageLink): InlineKeyboardButton[][] {
  return isTappable ? [[{ text: 'Open full text', url }]] : [];
}

function optionText(all: readonly string[], index: number): string {
  return `${index + 1}: ${fitText(shownLine(all[index] ?? ''), 60)}`;
}

function button(text: string, tap: Tap, token: string): InlineKeyboardButton {
  return { text, callback_data: tapData(tap, token) };
}
