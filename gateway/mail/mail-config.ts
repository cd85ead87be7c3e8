import { isIPv4, isIPv6 } from 'node:net';
import { isMailAddress } from '../../shared/rules/mail-address.ts';

/** Who writes where there is no mail server. Nothing can be sent to it. */
export const LOCAL_FROM = 'svc@localhost';

/** A text that shows itself to nobody who prints, logs or serializes what holds it. */
export class Password {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  reveal(): string {
    return this.#text;
  }
}

/** A mail server, and how to speak to it. */
export interface SmtpPlace {
  readonly kind: 'smtp';
  readonly host: string;
  readonly port: number;
  /** `from_start` is TLS from the first byte; with `starttls` nothing is sent before the connection is secured. */
  readonly tls: 'from_start' | 'starttls' | 'off';
  readonly credentials: { readonly user: string; readonly password: Password } | null;
  readonly from: string;
}

/** Where mail goes: to a server, or into the outbox folder. */
export type MailConfig = SmtpPlace | { readonly kind: 'outbox'; readonly from: string };

/** Everything that is wrong with the settings, at once. It names settings and shows no value: one holds a password. */
export class MailConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join(' '));
    this.name = 'MailConfigError';
    this.problems = problems;
  }
}

type Complain = (problem: string) => void;

const HOST = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,252}[A-Za-z0-9])?$/;
const SMTPS_PORT = 465;
const SUBMISSION_PORT = 587;

/**
 * Reads SVC_SMTP_URL, `smtp://user:password@host:587` or `smtps://…`, and SVC_MAIL_FROM, which it needs. Without it mail
 * goes to the outbox. Over `smtp://` the connection is secured by STARTTLS before anything is sent, as the links in mail are
 * as good as passwords; not so to this machine, or with `?tls=off` in a network of one's own.
 */
export function readMailConfig(env: Readonly<Record<string, string | undefined>>): MailConfig {
  const problems: string[] = [];
  const complain: Complain = (problem) => problems.push(problem);
  const text = env['SVC_SMTP_URL'] ?? '';
  const from = readFrom(env['SVC_MAIL_FROM'] ?? '', text !== '', complain);
  const place = text === '' ? null : readPlace(text, complain);
  if (problems.length > 0) throw new MailConfigError(problems);
  return place ? { kind: 'smtp', ...place, from } : { kind: 'outbox', from };
}

function readFrom(text: string, isNeeded: boolean, complain: Complain): string {
  if (text !== '' && !isMailAddress(text)) {
    complain('SVC_MAIL_FROM is not a plain address such as `approvals@example.com`.');
  }
  if (text === '' && isNeeded) complain('SVC_MAIL_FROM is not set: it says who writes.');
  return text || LOCAL_FROM;
}

function readPlace(text: string, complain: Complain): Omit<SmtpPlace, 'kind' | 'from'> | null {
  if (!/^smtps?:\/\//i.test(text) || !URL.canParse(text)) {
    complain(
      'SVC_SMTP_URL is not of the form `smtp://user:password@host:587` or `smtps://…`. In name and password write special characters as %XX.',
    );
    return null;
  }
  const url = new URL(text);
  const isSecure = url.protocol === 'smtps:';
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (!HOST.test(host) && !isIPv6(host)) complain('SVC_SMTP_URL has no host that could be one.');
  if (url.hash || !['', '/'].includes(url.pathname)) {
    complain('SVC_SMTP_URL: nothing but `?tls=…` may follow the host and its port.');
  }
  if (url.port === '0') complain('SVC_SMTP_URL: 0 is no port.');
  return {
    host,
    port: Number(url.port) || (isSecure ? SMTPS_PORT : SUBMISSION_PORT),
    tls: readTls(url, host, complain),
    credentials: readCredentials(url, complain),
  };
}

function readTls(url: URL, host: string, complain: Complain): SmtpPlace['tls'] {
  const names = [...url.searchParams.keys()];
  const choice = url.searchParams.get('tls');
  if (names.some((name) => name !== 'tls') || names.length > 1) {
    complain('SVC_SMTP_URL knows no option but `tls`, once.');
  } else if (choice !== null && choice !== 'required' && choice !== 'off') {
    complain('SVC_SMTP_URL: tls is neither `required` nor `off`.');
  }
  if (url.protocol === 'smtps:') {
    if (choice === 'off') complain('SVC_SMTP_URL: smtps:// is never without TLS.');
    return 'from_start';
  }
  return choice === 'off' || (choice === null && isThisMachine(host)) ? 'off' : 'starttls';
}

function isThisMachine(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

function readCredentials(url: URL, complain: Complain): SmtpPlace['credentials'] {
  if (url.username === '' && url.password === '') return null;
  if (url.username === '' || url.password === '') {
    complain('SVC_SMTP_URL has a user name or a password without the other.');
    return null;
  }
  try {
    const password = new Password(decodeURIComponent(url.password));
    return { user: decodeURIComponent(url.username), password };
  } catch {
    complain('SVC_SMTP_URL: a % in name or password is written as %25.');
    return null;
  }
}
