import type { KeyObject } from 'node:crypto';
import type { ImapConfig } from './inbound/imap-config.ts';
import type { Credentials, ServerAddress } from './server-url.ts';

/** Who writes where there is no mail server. Nothing can be sent to it. */
export const LOCAL_FROM = 'svc@localhost';

/** A mail server, and how to speak to it. */
export interface SmtpConfig extends ServerAddress {
  readonly kind: 'smtp';
  readonly credentials: Credentials | null;
  readonly from: string;
}

/** What mail is signed with (RFC 6376), each in the name of the domain of its From. */
export interface DkimConfig {
  readonly selector: string;
  /** RSA or Ed25519. */
  readonly key: KeyObject;
  /** What an operator should know of the key, a sentence each. */
  readonly remarks: readonly string[];
}

/** Where mail goes: to a server, or into the outbox folder. And where mail comes from. */
export type MailConfig = (SmtpConfig | { readonly kind: 'outbox'; readonly from: string }) & {
  /** Behind the `@` of the addresses of projects, in small letters; null where no mail is taken. */
  readonly domain: string | null;
  /** The mailbox with the mail to that domain. */
  readonly imap: ImapConfig | null;
  readonly dkim: DkimConfig | null;
  /** Who is asked for the records that signatures are checked with, as `address:port`; empty is the system's. */
  readonly dnsServers: readonly string[];
};

/** Everything that is wrong with the settings, at once. It names settings and shows no value: one holds a password. */
export class MailConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join(' '));
    this.name = 'MailConfigError';
    this.problems = problems;
  }
}
