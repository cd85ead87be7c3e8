import type { Vault } from '../../shared/kernel/context.ts';
import { NETWORK_KNOWN_MS } from '../../shared/lib/limits.ts';
import { networkOf } from '../lib/client-address.ts';
import type { LearnedNetwork } from '../store/control/known-networks.ts';

/** The text to sign to recognise the network of a client. */
export function networkHashText(address: string): string {
  return `login|network|1|${networkOf(address)}`;
}

/** The additional data that seals a network that an account knows. */
export function networkAad(accountId: string): string {
  return `known_network|${accountId}|network`;
}

/** A network for an account to remember: someone who reads its mail vouches for the client there. */
export function learnedNetwork(vault: Vault, address: string, now: number): LearnedNetwork {
  return {
    hash: vault.sign(networkHashText(address)),
    knownSince: now - NETWORK_KNOWN_MS,
    sealedFor: (accountId) => vault.seal(networkAad(accountId), networkOf(address)),
  };
}
