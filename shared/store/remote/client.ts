import { createClient, type Client } from '@libsql/client/http';
import type { RemoteLocation } from '../location.ts';
import { clientAddress } from './address.ts';
import { fetchPipeline } from './fetch.ts';

/** A client of one database. It holds no connection: those are shared by all of the thread. */
export function openClient({ url, token }: RemoteLocation): Client {
  // The error about a bad header would quote it.
  if (token !== null && !/^[!-~]+$/.test(token)) {
    throw new Error('SVC_DATABASE_TOKEN must be printable ASCII without spaces.');
  }
  return createClient({
    url: clientAddress(url),
    ...(token !== null && { authToken: token }),
    // As numbers, those beyond 2^53 would be an error.
    intMode: 'bigint',
    fetch: fetchPipeline,
  });
}
