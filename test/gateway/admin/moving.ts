import { hash, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withRawDatabase } from '../../helpers/database.ts';
import { TestGateway } from '../../helpers/gateway.ts';
import { Person } from '../auth/sign-in/person.ts';

/** Too large for a row: a blob. */
export const CONTENT = randomBytes(400_000);
const OWNER = 'ana@example.com';
export const SLUG = 'acme-shop';

export interface Seeded {
  readonly id: string;
  readonly apiKey: string;
  /** The newest entry of its ledger. */
  readonly head: { readonly seq: number; readonly hash: string; readonly at: string };
  /** Of the log that its replicas followed. */
  readonly epoch: string | undefined;
}

type Options = NonNullable<Parameters<typeof TestGateway.start>[0]>;

/** Makes a gateway's data with a project of somebody who signed in, which has a file, a key and a replica. */
export async function seed(folder: string, options: Options = {}): Promise<Seeded> {
  const gateway = await TestGateway.start({ folder, signIn: true, ...options });
  const { project, api_key: key } = await new Person(gateway, OWNER).project({ name: 'Acme Shop' });
  await putFile(gateway, key, 'big');
  await gateway.call('PUT', '/v1/kv/a', { body: { n: 1 }, key });
  const found = await gateway.gateway.projects.find(project.id);
  const replication = options.store ? null : await found?.writes.follow();
  const ledger = await gateway.call<{ items: Seeded['head'][] }>('GET', '/v1/ledger', { key });
  const [{ seq, hash: newest, at } = { seq: 0, hash: '', at: '' }] = ledger.body.items;
  await gateway.stop({ keepFolder: true });
  return {
    id: project.id,
    apiKey: key,
    head: { seq, hash: newest, at },
    epoch: replication?.log?.epoch,
  };
}

async function putFile(gateway: TestGateway, key: string, path: string): Promise<void> {
  const answer = await fetch(`${gateway.url}/v1/files/${path}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'image/png' },
    body: CONTENT,
  });
  if (answer.status !== 200) throw new Error(await answer.text());
}

/** What a gateway over this folder answers about a project that was seeded. */
export async function look(folder: string, { id, apiKey: key }: Seeded, options: Options = {}) {
  const gateway = await TestGateway.start({ folder, signIn: true, ...options });
  try {
    const file = await gateway.call('GET', '/v1/files/big', { key });
    const verified = await gateway.call('POST', '/v1/ledger/verify', { body: {}, key });
    const person = new Person(gateway, OWNER);
    const project = await gateway.gateway.projects.find(id);
    return {
      value: (await gateway.call('GET', '/v1/kv/a', { key })).body['value'],
      isFileWhole: file.body['content_base64'] === CONTENT.toString('base64'),
      verified: verified.body,
      owned: (await person.projects(await person.confirmed())).map(({ slug }) => slug),
      written: (await gateway.call('PUT', '/v1/kv/b', { body: 1, key })).status,
      epoch: options.store ? undefined : (await project?.writes.follow())?.log?.epoch,
    };
  } finally {
    await gateway.stop({ keepFolder: true });
  }
}

export function databaseOf(folder: string, { id }: Seeded): string {
  return join(folder, 'projects', id, 'project.db');
}

/** Changes the manifest of an export as somebody would who knows what it is. */
export function editManifest(
  folder: string,
  change: (manifest: Record<string, unknown>) => void,
): void {
  const file = join(folder, 'manifest.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  change(manifest);
  const text = JSON.stringify(manifest);
  writeFileSync(file, text);
  writeFileSync(join(folder, 'manifest.sha256'), `${hash('sha256', text)}  manifest.json\n`);
}

/** Changes rows of an exported database, and its digest in the manifest with them. */
export function editRows(folder: string, sql: string): void {
  const file = join(folder, 'project.db');
  withRawDatabase(file, (raw) => raw.exec(`PRAGMA journal_mode=DELETE; ${sql}`));
  const bytes = readFileSync(file);
  editManifest(folder, (manifest) => {
    manifest['database'] = { size_bytes: bytes.length, sha256: hash('sha256', bytes) };
  });
}
