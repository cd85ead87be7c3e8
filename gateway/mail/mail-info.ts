import type { MailInfo } from '../../shared/kernel/context.ts';
import { domainOf } from '../../shared/rules/mail/mail-address.ts';
import { LOCAL_MAIL_DOMAIN } from '../../shared/operations/email/project-address.ts';
import type { MailConfig } from './mail-config.ts';

/** The addresses of a gateway's projects. A gateway that isn't hosted can be tried without a domain of its own. */
export function mailInfo(config: MailConfig, isHosted: boolean): MailInfo {
  return { ...sender(config, isHosted), isKept: config.kind === 'outbox' };
}

function sender(config: MailConfig, isHosted: boolean): Pick<MailInfo, 'domain' | 'from'> {
  if (config.domain !== null) return { domain: config.domain, from: null };
  if (isHosted) return { domain: null, from: config.from };
  return { domain: LOCAL_MAIL_DOMAIN, from: config.kind === 'smtp' ? config.from : null };
}

/** The local parts that the service itself uses in its projects' domain: for its sender and its mailbox. */
export function ownNames({ domain, from, imap }: MailConfig): string[] {
  return [from, imap?.user ?? '']
    .filter((address) => address.includes('@') && domainOf(address) === domain)
    .map((address) => address.slice(0, address.lastIndexOf('@')).toLowerCase());
}
