import { hash } from 'node:crypto';
import type { MailInfo, Vault } from '../../kernel/context.ts';

/** With the longest slug and `+r.` it is 63 characters; a local part may have 64 (RFC 5321 section 4.5.3.1.1). */
const TOKEN_CHARS = 20;
const LOCAL = /^([a-z0-9][a-z0-9-]{0,39})(?:\+(.*))?$/;
/** `r` for replies, `b` for what comes back. */
const TAG = new RegExp(`^([br])\\.([0-9a-f]{${TOKEN_CHARS}})$`);
const MESSAGE_ID = /^<?(msg_[0-9a-z]{26})@[^<>@\s]{1,255}>?$/;

/** Of this machine alone (RFC 6761 section 6.3): what stands behind the addresses of projects where nobody has said more. */
export const LOCAL_MAIL_DOMAIN = 'localhost';

/** The address of a project, or null where no mail comes in. */
export function projectAddress(mail: MailInfo, slug: string): string | null {
  return mail.domain === null ? null : `${slug}@${mail.domain}`;
}

/** What marks reports about one message: mail servers on its way know it, and hardly anybody else. */
export function reportToken(vault: Vault, projectId: string, messageId: string): string {
  return hash('sha256', vault.sign(`mail|report|1|${projectId}|${messageId}`)).slice(
    0,
    TOKEN_CHARS,
  );
}

/** What marks replies to it. Everybody who is sent a copy of a reply knows it, and cannot make a report of it. */
export function replyTokenOf(token: string): string {
  return hash('sha256', `mail|reply|1|${token}`).slice(0, TOKEN_CHARS);
}

/** The addresses of a project for replies to one of its messages, and for reports about it, with a token each (RFC 5233). */
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

/** What an address of ours names. */
interface NamedProject {
  readonly slug: string;
  /** Of replies to a message. */
  readonly token: string | null;
  /** It is the address for reports about that message. */
  readonly isForReports: boolean;
}

/** The project and the message that an address of ours names; null for any other address. Anything may stand behind a `+`. */
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

/** The id that a Message-ID begins with, where it looks like one of ours. Nobody knows it who did not get the message. */
export function messageIdOf(header: string): string | null {
  return MESSAGE_ID.exec(header.trim())?.[1] ?? null;
}
