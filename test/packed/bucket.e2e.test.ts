import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filesUnder } from '../helpers/files.ts';
import { visit } from '../helpers/page-visitor.ts';
import { hasSwift, Swift } from '../helpers/swift.ts';
import { installPackage } from './installed.ts';
import { Machine } from './machine.ts';

const SOON = { timeout: 60_000 };
const LARGE_BYTES = 20 * 1024 * 1024;

const installed = await installPackage();

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

describe.runIf(installed && hasSwift())('files of the installed package in a bucket', () => {
  let swift: Swift;
  let machine: Machine;

  beforeAll(async () => {
    swift = await Swift.start();
    const { bucket, endpoint, region, credentials } = swift.place;
    const query = new URLSearchParams({ endpoint: endpoint.origin, region, path_style: 'true' });
    machine = new Machine(installed, {
      SVC_BLOBS: `s3://${bucket}?${query.toString()}`,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    });
    await machine.svc('up', '--port', '0');
  });
  afterAll(async () => {
    await machine.remove();
    await swift.end();
  });

  it('are put, listed, linked to, fetched and deleted, and lie nowhere on this machine', async () => {
    const bytes = randomBytes(LARGE_BYTES);
    const file = join(machine.home, 'large.bin');
    writeFileSync(file, bytes);
    expect(await machine.json('file', 'put', file, 'backups/large.bin')).toMatchObject({
      path: 'backups/large.bin',
      size_bytes: LARGE_BYTES,
      sha256: sha256(bytes),
    });
    expect(await machine.json('file', 'list')).toMatchObject({
      items: [{ path: 'backups/large.bin' }],
    });

    const fetched = machine.folder('fetched');
    await machine.svc('file', 'get', 'backups/large.bin', fetched);
    expect(sha256(readFileSync(join(fetched, 'large.bin')))).toBe(sha256(bytes));
    const linking = machine.start(['file', 'url', 'backups/large.bin', '--json']);
    // A link opens a file to anybody, so the owner is asked.
    await expect.poll(() => machine.json('outbox', 'list'), SOON).toMatchObject({ items: [{}] });
    const asked = await machine.json<{ url: string }>('outbox', 'open', '--print');
    await visit(asked.url, { button: 'Approve' });
    const { url } = JSON.parse((await linking.ended).out) as { url: string };
    const linked = new Uint8Array(await (await fetch(url)).arrayBuffer());
    expect(sha256(linked)).toBe(sha256(bytes));

    const { data_folder: data } = await machine.json<{ data_folder: string }>('status');
    expect(readdirSync(data)).toContain('control.db');
    const large = filesUnder(data).filter((path) => statSync(path).size >= LARGE_BYTES);
    expect(large).toEqual([]);

    await machine.svc('file', 'delete', 'backups/large.bin');
    expect((await machine.run(['file', 'get', 'backups/large.bin', '-'])).code).toBe(3);
  });
});
