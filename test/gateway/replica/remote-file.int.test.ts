import { once } from 'node:events';
import { get, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RemoteStage } from './remote-stage.ts';

let stage: RemoteStage;

beforeEach(async () => {
  stage = await RemoteStage.open();
});
afterEach(() => stage.end());

/** The epoch of the project. */
async function place(): Promise<string> {
  return String((await stage.gateway.call('GET', '/v1/replica')).body['epoch']);
}

/** The answer to a request for the copy, whose body is still to come. */
async function begin(): Promise<IncomingMessage> {
  const epoch = await place();
  const request = get(`${stage.gateway.url}/v1/replica/${epoch}/export/1`, {
    agent: false,
    headers: { authorization: `Bearer ${stage.gateway.apiKey}` },
  });
  request.on('error', () => undefined);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

/** Has this sent in place of the server's file. */
function answerExport(answer: (to: ServerResponse) => unknown): void {
  stage.front.answer = (what) => (what.startsWith('export/') ? answer : null);
}

/** A database of so many pages, of which all but the first are empty. */
function* pages(count: number): Generator<Buffer> {
  const first = Buffer.alloc(4096);
  first.write('SQLite format 3\0', 'latin1');
  first.writeUInt16BE(4096, 16);
  first.writeUInt32BE(count, 28);
  yield first;
  const others = Buffer.alloc(4096 * 16);
  for (let left = count - 1; left > 0; left -= 16)
    yield others.subarray(0, Math.min(left, 16) * 4096);
}

describe('a copy on its way', () => {
  const PAGES = 32 * 256;
  let given: number;
  let outgoing: ServerResponse | undefined;

  /** Has the server send the file as fast as it is taken, without its length; it may stop early. */
  function serve(upTo = Infinity): void {
    given = 0;
    stage.front.answer = (what) =>
      what.startsWith('export/')
        ? (to) => {
            outgoing = to;
            void send(to, upTo);
          }
        : null;
  }

  async function send(to: ServerResponse, upTo: number): Promise<void> {
    const counted = async function* (): AsyncGenerator<Buffer> {
      for (const bytes of pages(PAGES)) {
        if (given >= upTo) throw new Error('The server breaks off.');
        given += bytes.length;
        yield bytes;
      }
    };
    await pipeline(counted, to).catch(() => undefined);
  }

  it('is as long as its header says where the server does not', async () => {
    serve();
    const response = await begin();
    expect(response.headers['content-length']).toBe(String(PAGES * 4096));
    let came = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) came += chunk.length;
    expect(came).toBe(PAGES * 4096);
  });

  it('is as long as its header says where its pages are the largest', async () => {
    const bytes = Buffer.alloc(2 * 65_536);
    bytes.write('SQLite format 3\0', 'latin1');
    bytes.writeUInt16BE(1, 16);
    bytes.writeUInt32BE(2, 28);
    answerExport((to) => to.writeHead(200, { 'transfer-encoding': 'chunked' }).end(bytes));
    const response = await begin();
    expect(response.headers['content-length']).toBe(String(bytes.length));
    expect(Buffer.concat((await response.toArray()) as Buffer[]).length).toBe(bytes.length);
  });

  it('comes no faster than it is taken, and ends when its client leaves', async () => {
    serve();
    const response = await begin();
    response.pause();
    let before = -1;
    while (given !== before) {
      before = given;
      await sleep(200);
    }
    // What the buffers of two connections hold.
    expect(given).toBeLessThan((PAGES * 4096) / 2);
    response.destroy();
    if (outgoing && !outgoing.destroyed) await once(outgoing, 'close');
    expect(outgoing?.writableFinished).toBe(false);
  });

  it('is one of 64 at a time', async () => {
    stage.front.answer = (what) =>
      what.startsWith('export/') ? (to) => void to.write(pages(2).next().value) : null;
    const taken = await Promise.all(Array.from({ length: 64 }, begin));
    expect(new Set(taken.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
    expect((await begin()).statusCode).toBe(503);
    taken[0]?.destroy();
    while ((await begin()).statusCode === 503) await sleep(20);
    for (const one of taken) one.destroy();
  });

  it('that is cut short is cut short for the client', async () => {
    serve(1024 * 1024);
    const response = await begin();
    await expect(response.toArray()).rejects.toThrow('aborted');
    stage.front.answer = () => null;
    const whole = await begin();
    const bytes = Buffer.concat((await whole.toArray()) as Buffer[]);
    expect(bytes.subarray(0, 15).toString()).toBe('SQLite format 3');
  });
});
