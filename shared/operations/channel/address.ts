import { ServiceError } from '../../lib/errors.ts';
import { domainOf, isMailAddress, isRouted } from '../../rules/mail/mail-address.ts';

/**
 * Throws CHANNEL_ADDRESS_REJECTED for an address that must not decide. Agents can read project mail, so an approver's
 * address on our own domain would let an agent approve its own requests.
 */
export function refuseAddress(address: string, ownDomain: string | null): void {
  if (!isMailAddress(address) || isRouted(address) || domainOf(address) === ownDomain) {
    throw new ServiceError('CHANNEL_ADDRESS_REJECTED');
  }
}
