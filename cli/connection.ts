import { NO_KEY_HINT, type Connection } from '../clients/typescript/node/connection.ts';
import { unreachable, Untrusted, type CliError } from './errors.ts';

/** The error when nothing answers at the connection's address. */
export function notListening({ gateway, apiKey, hint }: Connection, reason: string): CliError {
  if (gateway === null && apiKey === '') {
    return unreachable("The daemon isn't running, and no key is stored here.", NO_KEY_HINT);
  }
  if (gateway === null) return unreachable("The daemon isn't running. Start it with: svc up");
  return unreachable(`Can't reach ${gateway.origin} (${reason}).`, hint ?? null);
}

/** The error when a gateway doesn't speak TLS, or this machine doesn't trust its certificate. */
export function notTrusted({ gateway }: Connection, reason: string): CliError {
  return new Untrusted(
    `Can't make a secure connection to ${gateway?.origin ?? 'the daemon'} (${reason}).`,
    'Check the address. For your own certificate authority, set NODE_EXTRA_CA_CERTS=FILE.',
  );
}
