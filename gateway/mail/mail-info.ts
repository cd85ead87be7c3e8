import type { MailInfo } from '../../shared/context.ts';
import { LOCAL_MAIL_DOMAIN } from '../../shared/rules/project-address.ts';
import type { MailConfig } from './mail-config.ts';

/** The addresses that the projects of a gateway have. One that is not hosted can be tried without a domain. */
export function mailInfo(config: MailConfig, isHosted: boolean): MailInfo {
  if (config.domain !== null) return { domain: config.domain, from: null };
  if (isHosted) return { domain: null, from: config.from };
  return { domain: LOCAL_MAIL_DOMAIN, from: config.kind === 'smtp' ? config.from : null };
}
