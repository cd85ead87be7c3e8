import { once } from 'node:events';
import { fstatSync, openSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileBody } from '../../../gateway/lib/file-body.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const SIZE = 64 * MIB;

/** One answer of the server: what became of it. */
interface Sent {
  readonly file: number;
  readonly bytes: number[];
  readonly done: Promise<unknown>;
}

let folder: ReturnType<typeof temporaryFolder>;
let path: string;
let server: Server;
let port: number;
let answers: Sent[];
beforeEach(async () => {
  folder = temporaryFolder();
  path = join(folder.path, 'file');
  writeFileSync(path, '');
  answers = [];
  // `/100-5` is answered with 5 bytes from the 100th on; what comes after `/hold` is not answered before it.
  server = createServer((incoming, outgoing) => {
    const [, start, sizeBytes] = /^\/(\d+)-(\d+)$/.exec(incoming.url ?? '') ?? [];
    if (start === undefined) return;
    const file = openSync(path, 'r');
    const bytes: number[] = [];
    const part = { start: Number(start), sizeBytes: Number(sizeBytes) };
    const body = new FileBody(file, part, (sent) => bytes.push(sent));
    const headers = { 'Content-Length': String(sizeBytes) };
    const done = body.send({ incoming, outgoing }, 200, headers).catch((error: unknown) => error);
    answers.push({ file, bytes, done });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  folder.remove();
});

function get(target: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request({ port, path: target, agent: false }, resolve).on('error', reject).end();
  });
}

async function bytesOf(target: string): Promise<Buffer> {
  const response = await fetch(`http://127.0.0.1:${port}${target}`);
  return Buffer.from(await response.arrayBuffer());
}

/** The only answer, once its file is closed. */
async function ended(): Promise<Sent> {
  const [answer] = answers;
  if (!answer) throw new Error('Nothing was answered.');
  await answer.done;
  expect(() => fstatSync(answer.file)).toThrow('EBADF');
  return answer;
}

describe('the body of an answer', () => {
  it('is a part of the file, and tells how long it was', async () => {
    writeFileSync(path, '0123456789');
    expect((await bytesOf('/2-3')).toString()).toBe('234');
    expect((await ended()).bytes).toEqual([3]);
  });

  it('may be nothing', async () => {
    expect(await bytesOf('/0-0')).toHaveLength(0);
    expect((await ended()).bytes).toEqual([0]);
  });

  it('is right for each of many clients at once, whatever memory they share', async () => {
    const content = Buffer.alloc(8 * MIB);
    for (let at = 0; at < content.length; at += 4) content.writeUInt32BE(at, at);
    writeFileSync(path, content);
    const starts = Array.from({ length: 24 }, (_, number) => number * 100 * KIB);
    for (let round = 0; round < 2; round += 1) {
      await Promise.all(
        starts.map(async (start) => {
          const bytes = await bytesOf(`/${start}-${5 * MIB + 1}`);
          expect(bytes.equals(content.subarray(start, start + 5 * MIB + 1))).toBe(true);
        }),
      );
    }
  });

  it('is read no further than its client takes, and no more once the client has left', async () => {
    truncateSync(path, SIZE);
    const response = await get(`/0-${SIZE}`);
    response.on('error', () => undefined);
    // The headers come before anything is read of the file.
    await once(response, 'readable');
    await sleep(200);
    response.destroy();
    const { bytes } = await ended();
    expect(bytes).toHaveLength(1);
    expect(bytes[0]).toBeGreaterThan(0);
    expect(bytes[0]).toBeLessThan(SIZE / 2);
  });

  it('that waits for the answer before it ends with the connection', async () => {
    truncateSync(path, SIZE);
    const socket = connect(port, '127.0.0.1');
    const head = `HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    socket.write(`GET /hold ${head}GET /0-${SIZE} ${head}`);
    await expect.poll(() => answers).toHaveLength(1);
    await sleep(50);
    socket.destroy();
    const { bytes } = await ended();
    expect(bytes[0]).toBeLessThan(MIB);
  });

  it('breaks the connection off when the file is shorter than was said', async () => {
    truncateSync(path, 3 * MIB);
    await expect(bytesOf(`/0-${4 * MIB}`)).rejects.toThrow('terminated');
    const answer = await ended();
    expect(answer.bytes).toEqual([3 * MIB]);
    expect(String(await answer.done)).toContain(`${3 * MIB} bytes came out of ${4 * MIB}.`);
  });
});
