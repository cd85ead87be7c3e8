import { GrammyError, HttpError } from 'grammy';
import { errorCode } from '../../../shared/lib/guards.ts';

interface FailureDetails {
  /** The code of Telegram's answer; null where there was none. */
  readonly code: number | null;
  readonly description: string;
  readonly retryAfterSeconds: number | null;
  /** True where this program failed, and not the network or Telegram. */
  readonly isOurs?: boolean;
}

/**
 * A call that Telegram refused or did not answer, or that failed here. It holds only words that are safe to log: the errors of
 * the library hold the address, which has the bot's token in it, and the message.
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

  /** Telegram will not answer otherwise until somebody changes the token or the address of the API. */
  get isTokenRefused(): boolean {
    return this.code === 401 || this.code === 404;
  }

  /** Nobody can be reached there: blocked, gone, or never met. */
  get isChatGone(): boolean {
    return this.code === 403 || (this.code === 400 && CHAT_GONE.test(this.description));
  }

  /** The person is not looking at the button any more. */
  get isTapOld(): boolean {
    return this.code === 400 && TAP_OLD.test(this.description);
  }

  /** There is nothing to change any more: it stands there already, or the message is gone. */
  get isEditDone(): boolean {
    return this.code === 400 && EDIT_DONE.test(this.description);
  }
}

/** What Telegram says of a toast that comes too late to be shown. */
const TAP_OLD = /query is too old|query ID is invalid/i;
const CHAT_GONE =
  /chat not found|user not found|user is deactivated|PEER_ID_INVALID|upgraded to a supergroup/i;
const EDIT_DONE =
  /message is not modified|MESSAGE_NOT_MODIFIED|message to edit not found|message can't be edited|message not found|MESSAGE_ID_INVALID/i;

const DESCRIPTION_MAX_CHARS = 300;
/** What Telegram may ask for, and no more: a number out of a wrong clock must not silence a bot for days. */
const RETRY_AFTER_MAX_SECONDS = 3600;

/** Any error of a call as one that is safe to show. `redact` takes the token out of its words. */
export function failureOf(
  method: string,
  error: unknown,
  redact: (text: string) => string,
): TelegramFailure {
  if (error instanceof TelegramFailure) return error;
  const shown = (text: string): string => redact(text).slice(0, DESCRIPTION_MAX_CHARS);
  if (!(error instanceof GrammyError)) return unanswered(method, error, shown);
  const { error_code: code, parameters } = error;
  // Typed as text by the library, which passes on what it was sent.
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
 * A code such as ECONNREFUSED, or the kind of trouble; null for an error that is no trouble of the network. Node-fetch gives
 * those of the network, and only those, a type.
 */
function networkReason(error: unknown): string | null {
  if (!(error instanceof Error && 'type' in error && typeof error.type === 'string')) return null;
  return errorCode(error) ?? error.type;
}
