import { readdirSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { copyDatabase } from '../../../daemon/replica/first-copy.ts';
import { ReplicaFolder } from '../../../daemon/replica/replica-folder.ts';
import { ReplicaSource } from '../../../daemon/replica/source.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';

const NEVER = new AbortController().signal;

let folder: ReturnType<typeof temporaryFolder>;
let server: Server;
let source: ReplicaSource;
let answer: RequestListener;

beforeEach(async () => {
  folder = temporaryFolder();
  server = createServer((request, response) => answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  source = new ReplicaSource(new URL(`http://127.0.0.1:${port}`), 'svc_live_x', 20_000);
});

afterEach(async () => {
  await source.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  folder.remove();
});

describe('an answer without end', () => {
  it.each([200, 500])('with status %i is not read to its end', async (status) => {
    let sent = 0;
    answer = (_, response) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      const more = (): void => {
        while (!response.destroyed && response.write(' '.repeat(65_536))) sent += 65_536;
      };
      response.on('drain', more);
      more();
    };
    await expect(source.place(NEVER)).rejects.toMatchObject({
      fault: 'unknown',
      message: 'The gateway answers more than 1 MB where it should not.',
    });
    // What lies in the buffers of two sockets comes on top.
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });

  it('of a megabyte is read', async () => {
    answer = (_, response) => response.end(' '.repeat(1024 * 1024));
    await expect(source.place(NEVER)).rejects.toMatchObject({
      message: 'The gateway does not say where it stands.',
    });
  });
});

describe('a database that the disk has no room for', () => {
  it('is refused with the sizes before anything is written', async () => {
    answer = ({ url }, response) => {
      if (url?.endsWith('/info')) response.end('{"current_generation":1}');
      else response.writeHead(200, { 'content-length': String(2 ** 50) }).write('SQLite format 3');
    };
    const copy = new ReplicaFolder(join(folder.path, 'prj_1'));
    const told: number[] = [];
    const copying = copyDatabase(source, copy, 'abc', (done) => told.push(done), NEVER);
    await expect(copying).rejects.toMatchObject({
      name: 'SyncError',
      failure: 'full',
      message: expect.stringMatching(
        /^The disk has no room for the copy: it takes 1,073,741,924 MB, [\d,]+ MB are free at .*prj_1\. Make room there\.$/,
      ),
    });
    expect(readdirSync(copy.path)).toEqual([]);
    expect(told).toEqual([]);
  });
});
