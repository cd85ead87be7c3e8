import type { Client } from '../call/client.ts';

/** A smaller difference may be the call's own duration, since a Date header has whole seconds. */
const CLOCKS_AGREE_MS = 2000;

/** The current time, by the server's clock if it differs from ours, because `since` is compared with server time. */
export async function timeThere(client: Client): Promise<string> {
  const here = Date.now();
  const there = await dateHeader(client).catch(() => Number.NaN);
  return new Date(Math.abs(there - here) > CLOCKS_AGREE_MS ? there : here).toISOString();
}

async function dateHeader(client: Client): Promise<number> {
  const response = await client.raw('GET', '/v1/whoami');
  response.resume();
  return Date.parse(response.headers.date ?? '');
}
