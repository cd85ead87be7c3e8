import { hash } from 'node:crypto';
import type { MailInfo, Vault } from '../../kernel/context.ts';

/** With the longest slug and `+r.`, the local part has 63 characters; the limit is 64 (RFC 5321 section 4.5.3.1.1). */
const TOKEN_CHARS = 20;
const LOCAL = /^([a-z0-9][a-z0-9-]{0,39})(?:\+(.*))?$/;
/** `r` for replies, `b` for bounces and other reports. */
const TAG = new RegExp(`^([br])\\.([0-9a-f]{${TOKEN_CHARS}})$`);
const MESSAGE_ID = /^<?(msg_[0-9a-z]{26})@[^<>@\s]{1,255}>?$/;

/** The mail domain of projects if nobody configures one; it never leaves this machine (RFC 6761 section 6.3). */
export const LOCAL_MAIL_DOMAIN = 'localhost';

/** The address of a project, or null if the server receives no mail. */
export function projectAddress(mail: MailInfo, slug: string): string | null {
  return mail.domain === null ? null : `${slug}@${mail.domain}`;
}

/** The token that marks reports about one message. Hardly anyone but the mail servers on its way sees it. */
export function reportToken(vault: Vault, projectId: string, messageId: string): string {
  return hash('sha256', vault.sign(`mail|report|1|${projectId}|${messageId}`)).slice(
    0,
    TOKEN_CHARS,
  );
}

/**
 * The token that marks replies to a message. Anyone who gets a copy of a reply sees it, and can't derive the report
 * token.
 */
export function replyTokenOf(token: string): string {
  return hash('sha256', `mail|reply|1|${token}`).slice(0, TOKEN_CHARS);
}

/** A project's addresses for replies to one of its messages and for reports about it, each with a token (RFC 5233). */
export function tokenAddresses(
  domain: string,
  slug: string,
  reportsToken: string,
): { readonly replyTo: string; readonly returnPath: string } {
  return {
    replyTo: `${slug}+r.${replyTokenOf(reportsToken)}@${domain}`,
    returnPath: `${slug}+b.${reportsToken}@${domain}`,
  };
}

/** The project, and perhaps the message, that one of our addresses names. */
interface NamedProject {
  readonly slug: string;
  /** The reply token of a message. */
  readonly token: string | null;
  /** True if the address takes reports about that message, rather than replies. */
  readonly isForReports: boolean;
}

/** Parses one of our addresses to its project and message; null for any other address. Ignores an unknown `+` tag. */
export function readProjectAddress(address: string, domain: string): NamedProject | null {
  const at = address.lastIndexOf('@');
  if (address.slice(at + 1).toLowerCase() !== domain) return null;
  const match = LOCAL.exec(address.slice(0, at).toLowerCase());
  if (match?.[1] === undefined) return null;
  const [, slug, tag = ''] = match;
  const [, kind, token] = TAG.exec(tag) ?? [];
  const isForReports = kind === 'b';
  if (token === undefined) return { slug, token: null, isForReports };
  return { slug, token: isForReports ? replyTokenOf(token) : token, isForReports };
}

/**
 * The reply addresses that a mail of ours named in References and an answer repeats, the nearest first. They tell its
 * project even where a relay replaced the Message-ID, and no field names the recipient.
 */
export function replyAddresses(
  mail: { readonly in_reply_to: string | null; readonly references: readonly string[] },
  domain: string,
): string[] {
  const ids = [mail.in_reply_to ?? '', ...mail.references.toReversed()];
  const addresses = ids.map((id) => id.replace(/^<(.*)>$/, '$1'));
  return addresses.filter((address) => {
    const read = readProjectAddress(address, domain);
    return read?.isForReports === false && read.token !== null;
  });
}

/** The id at the start of a Message-ID, if it looks like one of ours. Only people who got the message know it. */
export function messageIdOf(header: string): string | null {
  return MESSAGE_ID.exec(header.trim())?.[1] ?? null;
}
