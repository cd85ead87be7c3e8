import { GrammyError, HttpError } from 'grammy';
import { errorCode } from '../../../shared/lib/guards.ts';

interface FailureDetails {
  /** The code of Telegram's answer; null without an answer. */
  readonly code: number | null;
  readonly description: string;
  readonly retryAfterSeconds: number | null;
  /** Whether this program failed, rather than the network or Telegram. */
  readonly isOurs?: boolean;
}

/**
 * A call that Telegram refused or didn't answer, or that failed here. Its text is safe to log, unlike the library's
 * errors, which contain the URL with the bot's token, and the message.
 */
export class TelegramFailure extends Error {
  override readonly name = 'TelegramFailure';
  readonly code: number | null;
  readonly description: string;
  readonly retryAfterSeconds: number | null;
  readonly isOurs: boolean;

  constructor(method: string, details: FailureDetails) {
    const code = details.code === null ? '' : `${details.code} `;
    super(`Telegram, ${method}: ${code}${details.description}`);
    this.code = details.code;
    this.description = details.description;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.isOurs = details.isOurs ?? false;
  }

  /** Whether it will fail until somebody changes the token or the API's address. */
  get isTokenRefused(): boolean {
    return this.code === 401 || this.code === 404;
  }

  /** Whether nobody can be reached in this chat: blocked, gone or never started. */
  get isChatGone(): boolean {
    return this.code === 403 || (this.code === 400 && CHAT_GONE.test(this.description));
  }

  /** Whether the person no longer sees the button. */
  get isTapOld(): boolean {
    return this.code === 400 && TAP_OLD.test(this.description);
  }

  /** Whether there's nothing to change: the message already says so, or it's gone. */
  get isEditDone(): boolean {
    return this.code === 400 && EDIT_DONE.test(this.description);
  }
}

/** Telegram's words for a toast that comes too late. */
const TAP_OLD = /query is too old|query ID is invalid/i;
const CHAT_GONE =
  /chat not found|user not found|user is deactivated|PEER_ID_INVALID|upgraded to a supergroup/i;
const EDIT_DONE =
  /message is not modified|MESSAGE_NOT_MODIFIED|message to edit not found|message can't be edited|message not found|MESSAGE_ID_INVALID/i;

const DESCRIPTION_MAX_CHARS = 300;
/** The longest pause that Telegram may ask for, so that a wrong number can't silence a bot for days. */
const RETRY_AFTER_MAX_SECONDS = 3600;

/** Turns any error of a call into one that is safe to show. `redact` removes the token. */
export function failureOf(
  method: string,
  error: unknown,
  redact: (text: string) => string,
): TelegramFailure {
  if (error instanceof TelegramFailure) return error;
  const shown = (text: string): string => redact(text).slice(0, DESCRIPTION_MAX_CHARS);
  if (!(error instanceof GrammyError)) return unanswered(method, error, shown);
  const { error_code: code, parameters } = error;
  // The library's type says text, but it passes on anything.
  const description: unknown = error.description;
  return new TelegramFailure(method, {
    code: Number.isInteger(code) ? code : null,
    description: shown(typeof description === 'string' ? description : 'refused'),
    retryAfterSeconds: retryAfter(parameters.retry_after),
  });
}

function unanswered(
  method: string,
  error: unknown,
  shown: (text: string) => string,
): TelegramFailure {
  const inner = error instanceof HttpError ? error.error : error;
  const none = { code: null, retryAfterSeconds: null };
  const reason = networkReason(inner);
  if (reason !== null) {
    return new TelegramFailure(method, { ...none, description: `no answer (${reason})` });
  }
  const words = inner instanceof Error ? `${inner.name}: ${inner.message}` : typeof inner;
  const description = `svc itself failed (${shown(words)})`;
  return new TelegramFailure(method, { ...none, description, isOurs: true });
}

function retryAfter(value: unknown): number | null {
  const isSpan = typeof value === 'number' && Number.isFinite(value) && value >= 0;
  return isSpan ? Math.min(Math.ceil(value), RETRY_AFTER_MAX_SECONDS) : null;
}

/**
 * A code such as ECONNREFUSED, or the kind of network error; null for other errors. Node-fetch sets a type on network
 * errors only.
 */
function networkReason(error: unknown): string | null {
  if (!(error instanceof Error && 'type' in error && typeof error.type === 'string')) return null;
  return errorCode(error) ?? error.type;
}
