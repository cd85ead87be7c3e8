import { createClient, type Client, type Config } from '@libsql/client/http';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from '../helpers/gateway.ts';
import { startHrana, type HranaOptions, type HranaServer } from '../helpers/hrana/server.ts';

export const MAKE = 'CREATE TABLE item (name TEXT PRIMARY KEY, value ANY) STRICT';

export const put = (name: string) => ({
  sql: 'INSERT INTO item (name) VALUES (?)',
  args: [name],
});

export function folderOfTest(): string {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  return folder.path;
}

/** A libSQL server that ends with the test. */
export async function startServer(options: Partial<HranaOptions> = {}): Promise<HranaServer> {
  const server = await startHrana({ folder: folderOfTest(), ...options });
  onTestFinished(() => server.stop());
  return server;
}

/** The stock client, of database `test`. */
export function connect(
  server: { urlOf(name: string): string },
  more: Partial<Config> = {},
): Client {
  const client = createClient({ url: server.urlOf('test'), intMode: 'bigint', ...more });
  onTestFinished(() => client.close());
  return client;
}

export async function names(client: Client): Promise<unknown[]> {
  const { rows } = await client.execute('SELECT name FROM item ORDER BY name');
  return rows.map(({ name }) => name);
}

/** The answer to a raw pipeline request. */
export async function pipeline(
  url: string,
  requests: readonly unknown[],
  baton: string | null = null,
): Promise<{ status: number; type: string | null; text: string; baton: string | null }> {
  const body = JSON.stringify({ baton, requests });
  const response = await fetch(`${url}v2/pipeline`, { method: 'POST', body });
  const text = await response.text();
  const next = text.startsWith('{') ? (JSON.parse(text).baton as string | undefined) : undefined;
  const type = response.headers.get('content-type');
  return { status: response.status, type, text, baton: next ?? null };
}

/** Creates a database through the admin API. */
export function create(
  server: HranaServer,
  name: string,
  config: Readonly<Record<string, unknown>> = {},
): Promise<Response> {
  return fetch(`${server.url}/v1/namespaces/${name}/create`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(config),
  });
}
