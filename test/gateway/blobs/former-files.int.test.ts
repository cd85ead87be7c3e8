import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import pino from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { BlobsConfig } from '../../../gateway/blobs/blobs-config.ts';
import { Gateway } from '../../../gateway/gateway.ts';
import { cloningWriters } from '../../helpers/writers.ts';
import { STEADY, temporaryFolder, TestGateway } from '../../helpers/gateway.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => (folder = temporaryFolder()));
afterEach(() => folder.remove());

const bucket = (name: string): BlobsConfig => ({
  kind: 's3',
  bucket: name,
  endpoint: new URL('http://127.0.0.1:9'),
  region: 'r',
  pathStyle: true,
  credentials: { accessKeyId: 'id', secretAccessKey: 'a-secret' },
});

/** Starts a gateway over the data, ends it, and answers what it warned about. */
async function start(blobs?: BlobsConfig): Promise<string[]> {
  const lines: string[] = [];
  const stream = new Writable({
    write(line: Buffer, _encoding, done) {
      lines.push(line.toString());
      done();
    },
  });
  const url = 'http://127.0.0.1:1';
  const gateway = await Gateway.open({
    dataFolder: folder.path,
    urls: { api: url, mcp: `${url}/mcp`, hooks: url },
    ratePerMinute: 0,
    log: pino({ level: 'warn' }, stream),
    onFatal: () => undefined,
    deletionClock: STEADY,
    openWriters: cloningWriters,
    ...(blobs && { blobs }),
  });
  await gateway.close();
  return lines
    .map((line) => JSON.parse(line) as { setting?: string; msg: string })
    .filter(({ setting }) => setting === 'SVC_BLOBS')
    .map(({ msg }) => msg);
}

const MOVE = 'To keep files elsewhere, move the projects to a second gateway: docs/outgrow.md.';

it('warns of files that are left in the data folder, at each start', async () => {
  const gateway = await TestGateway.start({ folder: folder.path });
  await gateway.call('PUT', '/v1/files/a.txt', { body: 'x' });
  await gateway.stop();
  expect(await start()).toEqual([]);
  const warning = `SVC_BLOBS has changed: the data folder has files, and this gateway doesn't look there any more. Set SVC_BLOBS back to file:. ${MOVE}`;
  expect(await start(bucket('files'))).toEqual([warning]);
  expect(await start(bucket('files'))).toEqual([warning]);
  // Back to what was right; the bucket may have got some meanwhile.
  expect(await start()).toEqual([
    `SVC_BLOBS has changed: s3://files?endpoint=http://127.0.0.1:9 may have files, and this gateway doesn't look there any more. Set SVC_BLOBS back to s3://files?endpoint=http://127.0.0.1:9. ${MOVE}`,
  ]);
  expect(await start()).toEqual([]);
});

it('warns of no place without files', async () => {
  expect(await start()).toEqual([]);
  expect(await start(bucket('one'))).toEqual([]);
  expect(await start(bucket('two'))).toEqual([]);
  const gateway = await TestGateway.start({ folder: folder.path });
  await gateway.call('PUT', '/v1/kv/a', { body: 1 });
  await gateway.stop();
  expect(await start(bucket('two'))).toEqual([]);
  expect((await start(bucket('one'))).join()).toMatch(/s3:\/\/two\?.* may have files/);
});

it('warns of files that a folder has, and not once they are gone', async () => {
  const shared: BlobsConfig = { kind: 'file', folder: join(folder.path, 'shared') };
  const gateway = await TestGateway.start({ folder: folder.path, blobs: shared });
  await gateway.call('PUT', '/v1/files/a.txt', { body: 'x' });
  await gateway.stop();
  await start(shared);
  expect((await start()).join()).toContain(`file:${folder.path}/shared has files`);
  await start(shared);
  rmSync(join(folder.path, 'shared'), { recursive: true });
  expect(await start()).toEqual([]);
});
