import { createClient, type Client } from '@libsql/client/http';
import type { RemoteLocation } from '../location.ts';
import { clientAddress } from './address.ts';
import { fetchPipeline } from './fetch.ts';

/** A client for one database. It holds no connections of its own: the whole thread shares them. */
export function openClient({ url, token }: RemoteLocation): Client {
  // The error about an invalid header would quote the token.
  if (token !== null && !/^[!-~]+$/.test(token)) {
    throw new Error('SVC_DATABASE_TOKEN must be printable ASCII without spaces.');
  }
  return createClient({
    url: clientAddress(url),
    ...(token !== null && { authToken: token }),
    // With numbers, integers beyond 2^53 would cause an error.
    intMode: 'bigint',
    fetch: fetchPipeline,
  });
}
