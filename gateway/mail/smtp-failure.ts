import { isObject } from '../../shared/lib/guards.ts';
import type { SendResult, SmtpReply } from '../lib/send-result.ts';
import type { SmtpConfig } from './mail-config.ts';
import { later, type MailResult } from './mailer.ts';
import { oneLine } from './plain-text.ts';

const REPLY_CHARS_MAX = 200;
/** Replies about authentication, at any step. */
const NOT_LOGGED_IN: readonly number[] = [530, 534, 535, 538];
/** Not a refusal: the commands came out of order. */
const OUT_OF_STEP = 503;
/** The mail is larger than the server accepts (RFC 1870 section 6.1). */
const TOO_LARGE = 552;
/** RFC 2034 section 4. */
const ENHANCED = /^([245])\d\d[ -](\1\.\d{1,3}\.\d{1,3})(?![\d.])/;
/** Error codes of TLS and its certificates. */
const UNTRUSTED = /CERT|SELF_SIGNED|UNABLE_TO|ALTNAME|^ERR_(?:TLS|SSL)|^EPROTO$/;

/** A failure as nodemailer describes it. */
interface Failure {
  readonly code: string;
  /** The underlying code of the system or of TLS. */
  readonly originalCode: string;
  /** The step that failed, such as `CONN`, `AUTH PLAIN`, `MAIL FROM`, `RCPT TO` or `DATA`. */
  readonly command: string;
  /** 0 if the server didn't reply. */
  readonly responseCode: number;
  readonly response: string;
  readonly message: string;
}

interface Circumstances {
  /** All of the mail went out. */
  readonly isWhole: boolean;
  readonly credentials: SmtpConfig['credentials'];
}

/**
 * The result for a mail that we didn't see accepted. Only a permanent refusal of the recipient or of the mail itself is
 * final. Anything else may be fixed, on the way or in the settings, and then the mail still arrives. The reason never
 * contains our credentials, even if the server repeats them.
 */
export function smtpFailure(error: unknown, { isWhole, credentials }: Circumstances): MailResult {
  const failure = failureOf(error);
  const { code, originalCode, responseCode } = failure;
  if (isWhole && responseCode < 400) return { outcome: 'unknown', reason: silence(failure) };
  if (code === 'EAUTH' || code === 'ENOAUTH' || NOT_LOGGED_IN.includes(responseCode)) {
    // Leave out the reply, which may repeat our credentials.
    return later(`The mail server refused our login (${responseCode || code}).`);
  }
  if (code === 'ETLS' || UNTRUSTED.test(originalCode)) {
    const detail = originalCode || oneLine(failure.message, REPLY_CHARS_MAX);
    return later(`The connection to the mail server could not be secured (${detail}).`);
  }
  if (responseCode > 0) return answered(failure, credentials);
  // The server announced its size limit in advance.
  if (code === 'EMESSAGE') {
    return { outcome: 'refused', reason: 'The mail is larger than the mail server accepts.' };
  }
  return later(silence(failure));
}

function answered(failure: Failure, credentials: SmtpConfig['credentials']): SendResult {
  const { command, response, responseCode } = failure;
  const reply = {
    text: oneLine(withoutSecrets(response, credentials), REPLY_CHARS_MAX),
    codes: { smtpCode: responseCode, enhancedCode: ENHANCED.exec(response)?.[2] ?? null },
  };
  const isFinal = responseCode >= 500 && responseCode !== OUT_OF_STEP;
  switch (command) {
    case 'RCPT TO':
      return refusal(isFinal, 'the address', reply);
    case 'DATA':
      return refusal(isFinal, 'the mail', reply);
    case 'MAIL FROM':
      if (responseCode === TOO_LARGE) return refusal(true, 'the mail', reply);
      return notNow('does not take mail from us', reply);
    default:
      return notNow('does not serve us', reply);
  }
}

interface Reply {
  readonly text: string;
  readonly codes: SmtpReply;
}

function refusal(isFinal: boolean, what: string, reply: Reply): SendResult {
  if (!isFinal) return notNow(`does not take ${what} now`, reply);
  const reason = `The mail server refuses ${what}: ${reply.text}`;
  return { outcome: 'refused', reason, ...reply.codes };
}

function notNow(what: string, { text, codes }: Reply): SendResult {
  return { ...later(`The mail server ${what}: ${text}`), ...codes };
}

/** The server refused nothing: it never answered, or stopped answering. */
function silence({ code, originalCode }: Failure): string {
  switch (code) {
    case 'ETIMEDOUT':
    case 'EABORT':
    // The mail ran out of time before its turn came.
    case 'TimeoutError':
      return 'The mail server does not answer in time.';
    case 'EDNS':
      return `The name of the mail server can't be resolved (${originalCode || code}).`;
    case 'ECONNECTION':
    case 'ESOCKET':
      return `The mail server is not there, or hung up (${originalCode || code}).`;
    default:
      return `The mail could not be sent (${code}).`;
  }
}

function withoutSecrets(reply: string, credentials: SmtpConfig['credentials']): string {
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
