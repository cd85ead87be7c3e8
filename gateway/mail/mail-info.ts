import type { MailInfo } from '../../shared/context.ts';
import type { MailConfig } from './mail-config.ts';

/** Of this machine alone (RFC 6761 section 6.3): what stands behind the addresses of projects where nobody has said more. */
const LOCAL_DOMAIN = 'localhost';

/** The addresses that the projects of a gateway have. One that is not hosted can be tried without a domain. */
export function mailInfo(config: MailConfig, isHosted: boolean): MailInfo {
  if (config.domain !== null) return { domain: config.domain, from: null };
  if (isHosted) return { domain: null, from: config.from };
  return { domain: LOCAL_DOMAIN, from: config.kind === 'smtp' ? config.from : null };
}
