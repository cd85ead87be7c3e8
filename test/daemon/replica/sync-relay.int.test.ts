import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Link } from '../../../daemon/replica/sync/link.ts';
import { FrameNumbers } from '../../../daemon/replica/verify/frame-numbers.ts';
import { ReplicaFolder, type SyncedTo } from '../../../daemon/replica/sync/replica-folder.ts';
import { ReplicaSource } from '../../../daemon/replica/sync/source.ts';
import { SyncRelay } from '../../../daemon/replica/sync/sync-relay.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';

const FRAME_BYTES = 4120;

let server: Server;
let source: ReplicaSource;
let temporary: ReturnType<typeof temporaryFolder>;
let folder: ReplicaFolder;
let relay: SyncRelay;
let link: Link;
let answer: RequestListener;
let asked: string[];
let onFold: (ended: SyncedTo) => void;

beforeEach(async () => {
  asked = [];
  onFold = () => undefined;
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  source = new ReplicaSource(new URL(`http://127.0.0.1:${port}/base`), 'svc_live_x', 20_000);
  temporary = temporaryFolder();
  folder = new ReplicaFolder(temporary.path);
  relay = new SyncRelay(source, new FrameNumbers(folder), async (ended) => onFold(ended));
  link = await relay.link('e1');
});

afterEach(async () => {
  await relay.close();
  await source.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  temporary.remove();
});

/** Asks as the client of the database does. */
async function ask(path: string, token = link.token): Promise<{ status: number; body: Buffer }> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(link.syncUrl + path, { headers });
  return { status: response.status, body: Buffer.from(await response.arrayBuffer()) };
}

/** So many frames of different pages; the last one ends a commit. */
function framesOf(count: number, endsCommit = true): Buffer {
  const pages = Array.from({ length: count }, (_, index) => index + 1);
  return commit(pages, 7, endsCommit);
}

/** Frames of these pages, each filled with `fill`. */
function commit(pages: readonly number[], fill: number, endsCommit = true): Buffer {
  const frames = Buffer.alloc(pages.length * FRAME_BYTES, fill);
  pages.forEach((page, index) => {
    frames.writeUInt32BE(page, index * FRAME_BYTES);
    frames.writeUInt32BE(0, index * FRAME_BYTES + 4);
  });
  if (endsCommit) frames.writeUInt32BE(12, (pages.length - 1) * FRAME_BYTES + 4);
  return frames;
}

/** The frames in short: each with its page, its content, and `!` if it ends a commit. */
function shown(frames: Buffer): string {
  const texts: string[] = [];
  for (let at = 0; at < frames.length; at += FRAME_BYTES) {
    const isEnd = frames.readUInt32BE(at + 4) > 0;
    texts.push(`${frames.readUInt32BE(at)}=${frames.readUInt8(at + 24)}${isEnd ? '!' : ''}`);
  }
  return texts.join(' ');
}

/** The same folder, after a crash of the daemon. */
async function startAnew(): Promise<void> {
  await relay.close();
  relay = new SyncRelay(source, new FrameNumbers(folder), async (ended) => onFold(ended));
  link = await relay.link('e1');
}

/** What the gateway was asked for. */
function ranges(): (string | undefined)[] {
  return asked.map((path) => path.split('/sync/')[1]);
}

function refusal(code: string): string {
  return JSON.stringify({ error: { code, message: 'No.' } });
}

describe('the relay between the client of the database and the gateway', () => {
  it('passes frames on, with the key that only it knows', async () => {
    let authorization: string | undefined;
    answer = (request, response) => {
      authorization = request.headers.authorization;
      response.end(framesOf(2));
    };
    const { status, body } = await ask('/sync/3/1/129');
    expect([status, body.equals(framesOf(2))]).toEqual([200, true]);
    expect(asked).toEqual(['/base/v1/replica/e1/sync/3/1/251']);
    expect(authorization).toBe('Bearer svc_live_x');
    expect(link.token).not.toContain('svc_live_x');
    expect(link.progress()).toBe(2 * FRAME_BYTES);
  });

  it('tells where a generation ends, once that is noted', async () => {
    const noted: SyncedTo[] = [];
    onFold = (ended) => noted.push(ended);
    answer = (_, response) => response.end(framesOf(8));
    await ask('/sync/3/1/129');
    await ask('/sync/3/9/137');
    answer = (_, response) => response.writeHead(400).end('{"generation":4}');
    const end = await ask('/sync/3/9/137');
    expect([end.status, end.body.toString()]).toEqual([400, '{"generation":4}']);
    expect(noted).toEqual([{ generation: 3, frames: 8 }]);
    await ask('/sync/4/1/129');
    expect(noted).toHaveLength(1);
  });

  it('keeps the end of a generation to itself while it cannot be noted', async () => {
    onFold = () => {
      throw new Error('The disk is full.');
    };
    answer = (_, response) => response.writeHead(400).end('{"generation":4}');
    const end = await ask('/sync/3/1/129');
    expect([end.status, end.body.toString()]).toEqual([424, 'The disk is full.']);
  });

  it('lets the client open a copy without the gateway', async () => {
    expect((await ask('/info')).status).toBe(200);
    expect(asked).toEqual([]);
  });

  it('answers nobody else on this machine', async () => {
    answer = (_, response) => response.end(framesOf(1));
    expect((await ask('/sync/3/1/129', 'x'.repeat(64))).status).toBe(403);
    expect((await ask('/sync/3/1/129', '')).status).toBe(403);
    expect(asked).toEqual([]);
  });

  it('lets through what a copy in place needs, and nothing else', async () => {
    answer = (_, response) => response.end('{}');
    const elsewhere = ['/export/1', '/sync/1/1/2/baton', '/../e2/sync/1/1/x', '/v2/pipeline', ''];
    for (const path of elsewhere) expect((await ask(path)).status).toBe(424);
    const headers = { authorization: `Bearer ${link.token}` };
    const post = await fetch(`${link.syncUrl}/sync/1/1/2`, { method: 'POST', headers, body: 'x' });
    expect(post.status).toBe(403);
    expect(asked).toEqual([]);
  });

  it('asks once where the client asks whether that was all, unless it asks again', async () => {
    answer = (request, response) => {
      if (request.url?.endsWith('/1/251')) return response.end(framesOf(2));
      response.statusCode = 400;
      return response.end('{"generation":4}');
    };
    await ask('/sync/3/1/129');
    const [first, second] = [await ask('/sync/3/3/131'), await ask('/sync/3/3/131')];
    expect([first.status, first.body.toString()]).toEqual([400, '{"generation":3}']);
    expect([second.status, second.body.toString()]).toEqual([400, '{"generation":4}']);
    expect(ranges()).toEqual(['3/1/251', '3/3/253']);
  });

  it.each([
    ['in the middle of a commit', () => framesOf(2, false)],
    ['where more were asked for than fit', () => framesOf(250)],
  ])('asks on after frames that end %s', async (_, framesOfIt) => {
    answer = (_request, response) => response.end(framesOfIt());
    await ask('/sync/3/1/129');
    await ask(`/sync/3/${1 + framesOfIt().length / FRAME_BYTES}/257`);
    expect(asked).toHaveLength(2);
  });

  it('passes several commits on as one, with the newest version of each page', async () => {
    answer = (_, response) =>
      response.end(Buffer.concat([commit([2, 9], 1), commit([1, 2, 5], 2), commit([5, 9, 7], 3)]));
    const { body } = await ask('/sync/3/1/129');
    expect(shown(body)).toBe('1=2 2=2 5=3 9=3 7=3!');
  });

  it('keeps back a commit that is not complete yet', async () => {
    answer = (_, response) =>
      response.end(Buffer.concat([commit([2, 9], 1), commit([1, 2], 2, false)]));
    expect(shown((await ask('/sync/3/1/129')).body)).toBe('2=1 9=1!');
    answer = (_, response) => response.end(commit([1, 2, 6], 2));
    expect(shown((await ask('/sync/3/3/131')).body)).toBe('1=2 2=2 6=2!');
    expect(ranges()).toEqual(['3/1/251', '3/3/253']);
  });

  it('passes a commit of many answers on as it is, and ends with it', async () => {
    answer = (_, response) => response.end(commit([1, 2, 3], 1, false));
    await ask('/sync/3/1/129');
    answer = (_, response) => response.end(Buffer.concat([commit([4], 1), commit([1, 4], 2)]));
    expect(shown((await ask('/sync/3/4/132')).body)).toBe('4=1!');
    answer = (_, response) => response.end(commit([1, 4], 2));
    expect(shown((await ask('/sync/3/5/133')).body)).toBe('1=2 4=2!');
    expect(ranges()).toEqual(['3/1/251', '3/4/254', '3/5/255']);
  });

  describe('to a client that has fewer frames than the gateway', () => {
    beforeEach(async () => {
      answer = (_, response) => response.end(framesOf(2));
      await ask('/sync/3/1/129');
      await ask('/sync/3/3/131');
      answer = (_, response) => response.end(Buffer.concat([framesOf(4), framesOf(5)]));
      await ask('/sync/3/3/131');
      asked = [];
      answer = (_, response) => response.end(framesOf(1));
    });

    it.each([
      ['goes on', false, 8, '3/12/262'],
      ['goes on after a restart', true, 8, '3/12/262'],
      ['repeats what it had not committed', false, 3, '3/3/253'],
      ['repeats after a restart what it had not committed', true, 3, '3/3/253'],
    ])('%s', async (_, isAnew, from, range) => {
      if (isAnew) await startAnew();
      else await ask('/sync/3/8/136');
      expect((await ask(`/sync/3/${from}/${from + 128}`)).status).toBe(200);
      expect(ranges()).toEqual([range]);
    });

    it('says that frames it never passed on lead nowhere', async () => {
      await startAnew();
      expect((await ask('/sync/3/5/133')).status).toBe(404);
      expect((await ask('/sync/2/8/136')).status).toBe(404);
      expect(asked).toEqual([]);
    });

    it('starts another generation from its first frame', async () => {
      expect((await ask('/sync/4/1/129')).status).toBe(200);
      await ask('/sync/4/2/130');
      expect((await ask('/sync/4/2/130')).status).toBe(200);
      expect(ranges()).toEqual(['4/1/251', '4/2/252']);
    });
  });

  it('answers nothing to a client whose successor has asked meanwhile', async () => {
    const held: (() => void)[] = [];
    answer = (_, response) => void held.push(() => response.end(framesOf(2)));
    const first = ask('/sync/3/1/129');
    await expect.poll(() => held.length).toBe(1);
    const second = ask('/sync/3/1/129');
    await expect.poll(() => held.length).toBe(2);
    held.forEach((send) => send());
    expect([(await first).status, (await second).status]).toEqual([424, 200]);
  });

  it.each([
    ['a refused key', 401, refusal('KEY_REVOKED'), 403],
    ['a history that is not there', 404, refusal('NOT_FOUND'), 404],
    ['a gateway that cannot do it now', 503, refusal('UNAVAILABLE'), 424],
    ['a page in place of frames', 200, '<html></html>', 424],
    ['frames that are cut', 200, 'x'.repeat(FRAME_BYTES - 1), 424],
    ['an empty answer', 200, '', 424],
    ['the page of a portal', 401, '<html></html>', 424],
    ['a proxy that knows no such page', 404, '<html></html>', 424],
    ['a proxy that fails', 500, '{"generation":9}', 424],
    ['a bad request', 400, '{}', 424],
    ['a generation of nothing', 400, '{"generation":0}', 424],
  ])('makes %s harmless', async (_, status, text, wanted) => {
    answer = (_request, response) => response.writeHead(status).end(text);
    expect((await ask('/sync/3/1/129')).status).toBe(wanted);
  });

  it('says so where the gateway is not there', async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    const { status, body } = await ask('/sync/3/1/129');
    expect(status).toBe(424);
    expect(body.toString()).toContain('ECONNREFUSED');
  });
});
