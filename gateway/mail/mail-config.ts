import type { KeyObject } from 'node:crypto';
import type { ImapConfig } from './inbound/imap-config.ts';
import type { Credentials, ServerAddress } from './server-url.ts';

/** The sender if there's no mail server. It can't receive mail. */
export const LOCAL_FROM = 'svc@localhost';

/** A mail server, and how to connect to it. */
export interface SmtpConfig extends ServerAddress {
  readonly kind: 'smtp';
  readonly credentials: Credentials | null;
  readonly from: string;
}

/** The key that signs mail (RFC 6376), each mail for the domain of its From. */
export interface DkimConfig {
  readonly selector: string;
  /** RSA or Ed25519. */
  readonly key: KeyObject;
  /** Warnings about the key for the operator, one sentence each. */
  readonly remarks: readonly string[];
}

/** Where mail goes (a server or the outbox folder), and where it comes from. */
export type MailConfig = (SmtpConfig | { readonly kind: 'outbox'; readonly from: string }) & {
  /** The domain of project addresses, in lower case; null if the gateway takes no mail. */
  readonly domain: string | null;
  /** The mailbox that receives mail to that domain. */
  readonly imap: ImapConfig | null;
  readonly dkim: DkimConfig | null;
  /** DNS servers for checking signatures, as `address:port`; empty means the system's own. */
  readonly dnsServers: readonly string[];
};

/** All problems with the settings at once. It names settings but never shows values, because one contains a password. */
export class MailConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join(' '));
    this.name = 'MailConfigError';
    this.problems = problems;
  }
}
