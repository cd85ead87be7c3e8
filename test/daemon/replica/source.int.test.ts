import { getEventListeners } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { copyDatabase } from '../../../daemon/replica/sync/first-copy.ts';
import { ReplicaFolder } from '../../../daemon/replica/sync/replica-folder.ts';
import { ReplicaSource } from '../../../daemon/replica/sync/source.ts';
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
    await expect(source.position(NEVER)).rejects.toMatchObject({
      fault: 'unknown',
      message: "The gateway's answer is unexpectedly over 1 MB.",
    });
    // What lies in the buffers of two sockets comes on top.
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });

  it('of a megabyte is read', async () => {
    answer = (_, response) => response.end(' '.repeat(1024 * 1024));
    await expect(source.position(NEVER)).rejects.toMatchObject({
      message: "The gateway didn't give its position.",
    });
  });
});

describe('a gateway that hangs', () => {
  it('leaves no pile of listeners on the signal that all requests share', async () => {
    let arrived = 0;
    answer = () => void (arrived += 1);
    const ended = new AbortController();
    const asked = Array.from({ length: 20 }, () => source.position(ended.signal));
    const settled = Promise.allSettled(asked);
    await expect.poll(() => arrived, { timeout: 60_000 }).toBe(20);
    expect(getEventListeners(ended.signal, 'abort').length).toBeLessThan(2);
    ended.abort();
    expect((await settled).map(({ status }) => status)).toEqual(Array(20).fill('rejected'));
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
        /^Not enough disk space for the replica: it needs 1,073,741,924 MB, and .*prj_1 has [\d,]+ MB free\. Free some space there\.$/,
      ),
    });
    expect(readdirSync(copy.path)).toEqual([]);
    expect(told).toEqual([]);
  });
});

/** The server is at a later generation each time it is asked, and has the copy of one alone. Answers what it was asked. */
function rotating(copied: number): string[] {
  const asked: string[] = [];
  let generation = 0;
  answer = ({ url = '' }, response) => {
    asked.push(url.replace('/v1/replica/abc', ''));
    if (url.endsWith('/info')) {
      generation += 1;
      response.end(JSON.stringify({ current_generation: generation }));
    } else if (url.endsWith(`/export/${copied}`)) {
      response.writeHead(200, { 'content-length': '15' }).end('SQLite format 3');
    } else {
      response.writeHead(404).end('{"error":{"code":"NOT_FOUND","message":"It is gone."}}');
    }
  };
  return asked;
}

describe('a generation that ends while its copy is asked for', () => {
  it('gives way to the next one', async () => {
    const asked = rotating(2);
    const copy = new ReplicaFolder(join(folder.path, 'prj_1'));
    await copyDatabase(source, copy, 'abc', () => undefined, NEVER);
    expect(asked).toEqual(['/info', '/export/1', '/info', '/export/2']);
    expect(copy.readSyncedTo()).toEqual({ generation: 2, frames: 0 });
    expect(readFileSync(copy.databasePath, 'utf8')).toBe('SQLite format 3');
  });

  it('again and again is tried five times, and leaves nothing', async () => {
    const asked = rotating(6);
    const copy = new ReplicaFolder(join(folder.path, 'prj_1'));
    const copying = copyDatabase(source, copy, 'abc', () => undefined, NEVER);
    await expect(copying).rejects.toMatchObject({
      fault: 'unavailable',
      message: 'The gateway answered 404: It is gone.',
    });
    expect(asked.filter((path) => path.startsWith('/export/'))).toHaveLength(5);
    expect(readdirSync(copy.path)).toEqual([]);
  });
});
