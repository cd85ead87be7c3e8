import { isObject } from '../../shared/untyped.ts';
import type { Sent } from '../people/desk.ts';
import type { SmtpPlace } from './mail-config.ts';
import { later } from './mailer.ts';
import { oneLine } from './plain-text.ts';

const REPLY_CHARS_MAX = 200;
/** Replies about who we are, at whatever step they come. */
const NOT_LOGGED_IN: readonly number[] = [530, 534, 535, 538];
/** Not a refusal, but a conversation out of step. */
const OUT_OF_STEP = 503;
/** What TLS and its certificates fail with. */
const UNTRUSTED = /CERT|SELF_SIGNED|UNABLE_TO|ALTNAME|^ERR_(?:TLS|SSL)|^EPROTO$/;

/** What nodemailer says of a failure. */
interface Failure {
  readonly code: string;
  /** The code of the system or of TLS behind it. */
  readonly originalCode: string;
  /** What was under way, such as `CONN`, `AUTH PLAIN`, `MAIL FROM`, `RCPT TO` or `DATA`. */
  readonly command: string;
  /** 0 when the server said nothing. */
  readonly responseCode: number;
  readonly response: string;
  readonly message: string;
}

/**
 * What to make of a mail that was not sent. Final is only a lasting refusal of the recipient or of the mail itself; all
 * else may be mended, on the way or in the settings, and then the mail still reaches its reader. What is said of it holds
 * nothing of what we logged in with, also where the server repeats that.
 */
export function smtpFailure(error: unknown, credentials: SmtpPlace['credentials']): Sent {
  const failure = failureOf(error);
  const { code, originalCode, responseCode } = failure;
  if (code === 'EAUTH' || code === 'ENOAUTH' || NOT_LOGGED_IN.includes(responseCode)) {
    // Not a word of the reply, which may repeat what it was told.
    return later(`The mail server does not accept who we say we are (${responseCode || code}).`);
  }
  if (code === 'ETLS' || UNTRUSTED.test(originalCode)) {
    const detail = originalCode || oneLine(failure.message, REPLY_CHARS_MAX);
    return later(`The connection to the mail server could not be secured (${detail}).`);
  }
  return responseCode === 0 ? later(silence(failure)) : answered(failure, credentials);
}

function answered(
  { command, response, responseCode }: Failure,
  credentials: SmtpPlace['credentials'],
): Sent {
  const reply = oneLine(withoutSecrets(response, credentials), REPLY_CHARS_MAX);
  const isFinal = responseCode >= 500 && responseCode !== OUT_OF_STEP;
  switch (command) {
    case 'RCPT TO':
      return refusal(isFinal, 'the address', reply);
    case 'DATA':
      return refusal(isFinal, 'the mail', reply);
    case 'MAIL FROM':
      return later(`The mail server does not take mail from us: ${reply}`);
    default:
      return later(`The mail server does not serve us: ${reply}`);
  }
}

function refusal(isFinal: boolean, what: string, reply: string): Sent {
  if (isFinal) return { outcome: 'refused', reason: `The mail server refuses ${what}: ${reply}` };
  return later(`The mail server does not take ${what} now: ${reply}`);
}

/** Nobody refused anything: nothing was heard, or nothing more. */
function silence({ code, originalCode }: Failure): string {
  switch (code) {
    case 'ETIMEDOUT':
    case 'EABORT':
      return 'The mail server does not answer in time.';
    case 'EDNS':
      return `The name of the mail server leads nowhere (${originalCode || code}).`;
    case 'ECONNECTION':
    case 'ESOCKET':
      return `The mail server is not there, or hung up (${originalCode || code}).`;
    default:
      return `The mail could not be sent (${code}).`;
  }
}

function withoutSecrets(reply: string, credentials: SmtpPlace['credentials']): string {
  if (!credentials) return reply;
  const password = credentials.password.reveal();
  const plain = base64(`\0${credentials.user}\0${password}`);
  return [plain, base64(password), password].reduce(
    (text, secret) => text.replaceAll(secret, '…'),
    reply,
  );
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

function failureOf(error: unknown): Failure {
  const fields = isObject(error) ? error : {};
  const text = (name: string): string => {
    const value = fields[name];
    return typeof value === 'string' ? value : '';
  };
  const { responseCode } = fields;
  return {
    code: text('code') || (error instanceof Error ? error.name : 'unknown'),
    originalCode: text('originalCode'),
    command: text('command'),
    responseCode: typeof responseCode === 'number' ? responseCode : 0,
    response: text('response'),
    message: text('message'),
  };
}
