import { createClient, type Client } from '@libsql/client/http';
import type { RemoteLocation } from '../engine/location.ts';
import { clientAddress } from './address.ts';
import { answersAfresh, fetchAfresh, fetchPipeline, renewConnections } from './fetch.ts';

/**
 * A client for one database. It holds no connections of its own: the whole thread shares them, or with `isFresh` each
 * request makes one.
 */
export function openClient({ url, token }: RemoteLocation, isFresh = false): Client {
  // The error about an invalid header would quote the token.
  if (token !== null && !/^[!-~]+$/.test(token)) {
    throw new Error('SVC_DATABASE_TOKEN must be printable ASCII without spaces.');
  }
  return createClient({
    url: clientAddress(url),
    ...(token !== null && { authToken: token }),
    // With numbers, integers beyond 2^53 would cause an error.
    intMode: 'bigint',
    fetch: isFresh ? fetchAfresh : fetchPipeline,
  });
}

/** Repeats requests over new connections: a kept one may be dead and not show it. */
export interface Afresh {
  readonly client: Client;
  /** Whether the server answers there. */
  isThere(): Promise<boolean>;
  /** The server answered a repeat first, so kept connections are dead. */
  renew(): void;
}

export function openAfresh(location: RemoteLocation): Afresh {
  const url = clientAddress(location.url);
  return {
    client: openClient(location, true),
    isThere: () => answersAfresh(url),
    renew: renewConnections,
  };
}
