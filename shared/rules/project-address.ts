import { hash } from 'node:crypto';
import type { MailInfo, Vault } from '../context.ts';

/** With the longest slug and `+r.` it is 63 characters; a local part may have 64 (RFC 5321 section 4.5.3.1.1). */
const TOKEN_CHARS = 20;
const LOCAL = /^([a-z0-9][a-z0-9-]{0,39})(?:\+(.*))?$/;
/** `r` for replies, `b` for what comes back. */
const TAG = new RegExp(`^[br]\\.([0-9a-f]{${TOKEN_CHARS}})$`);
const MESSAGE_ID = /^<?(msg_[0-9a-z]{26})@[^<>@\s]{1,255}>?$/;

/** Of this machine alone (RFC 6761 section 6.3): what stands behind the addresses of projects where nobody has said more. */
export const LOCAL_MAIL_DOMAIN = 'localhost';

/** The address of a project, or null where no mail comes in. */
export function projectAddress(mail: MailInfo, slug: string): string | null {
  return mail.domain === null ? null : `${slug}@${mail.domain}`;
}

/** What marks replies to one message, and reports about it: nobody can make it up who did not get the message. */
export function replyToken(vault: Vault, projectId: string, messageId: string): string {
  return hash('sha256', vault.sign(`mail|reply|1|${projectId}|${messageId}`)).slice(0, TOKEN_CHARS);
}

/** The addresses of a project with the token of one of its messages in them (RFC 5233): for replies, and for reports. */
export function tokenAddresses(
  domain: string,
  slug: string,
  token: string,
): { readonly replyTo: string; readonly returnPath: string } {
  return {
    replyTo: `${slug}+r.${token}@${domain}`,
    returnPath: `${slug}+b.${token}@${domain}`,
  };
}

/** The project and the token that an address of ours names; null for any other address. Anything may stand behind a `+`. */
export function readProjectAddress(
  address: string,
  domain: string,
): { readonly slug: string; readonly token: string | null } | null {
  const at = address.lastIndexOf('@');
  if (address.slice(at + 1).toLowerCase() !== domain) return null;
  const match = LOCAL.exec(address.slice(0, at).toLowerCase());
  if (match?.[1] === undefined) return null;
  const [, slug, tag = ''] = match;
  return { slug, token: TAG.exec(tag)?.[1] ?? null };
}

/** The id that a Message-ID begins with, where it looks like one of ours. Nobody knows it who did not get the message. */
export function messageIdOf(header: string): string | null {
  return MESSAGE_ID.exec(header.trim())?.[1] ?? null;
}
