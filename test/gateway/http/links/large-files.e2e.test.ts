import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { get, request, type IncomingMessage } from 'node:http';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const MIB = 1024 * 1024;
const SIZE_BYTES = 100 * MIB;
const GROWTH_MAX_BYTES = 60 * MIB;

/** A gateway behind the listener of the daemon, alone in a process whose memory is watched. */
const SERVER = `
  import { Listener } from ${JSON.stringify(resolve('daemon/listener.ts'))};
  import { TestDisk } from ${JSON.stringify(resolve('test/shared/operations/disk.ts'))};
  import { TestGateway } from ${JSON.stringify(resolve('test/helpers/gateway.ts'))};
  import { Admission } from ${JSON.stringify(resolve('shared/admission/admission.ts'))};
  const gateway = await TestGateway.start();
  const disk = await TestDisk.of(gateway, () => Date.now());
  const { app } = gateway.gateway;
  const listener = await Listener.onLoopback(0, {
    admission: Admission.local(),
    fetch: (request, env) => app.fetch(request, env),
    control: () => false,
  });
  const outside = (url) => url.replace(gateway.url, 'http://127.0.0.1:' + listener.port);
  let peak = 0;
  const look = () => { peak = Math.max(peak, process.memoryUsage.rss()); };
  setInterval(look, 10);
  const tasks = {
    async open(size) {
      const { id, url } = await disk.openUpload({ size, type: 'application/zip', path: 'a.zip' });
      return { id, url: outside(url) };
    },
    async complete(id) {
      return outside(await disk.addLink('a.zip', await disk.complete(id)));
    },
    peak() {
      look();
      const highest = peak;
      peak = 0;
      return highest;
    },
    async stop() {
      await listener.close(0);
      await gateway.stop();
    },
  };
  process.on('message', async ({ task, input }) => {
    process.send({ value: await tasks[task](input) });
    if (task === 'stop') process.exit(0);
  });
  process.send('ready');`;

let server: ChildProcess;
beforeAll(async () => {
  const args = ['--import', 'tsx', '--input-type=module', '--eval', SERVER];
  server = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  await once(server, 'message');
});
afterAll(async () => {
  await ask('stop');
  server.kill();
});

async function ask<T>(task: string, input?: unknown): Promise<T> {
  const answer = once(server, 'message');
  server.send({ task, input });
  const [{ value }] = (await answer) as [{ value: T }];
  return value;
}

/** Bytes that no two chunks have in common, from one buffer. */
function* chunks(sizeBytes: number): Generator<Buffer> {
  for (let left = sizeBytes; left > 0; left -= 64 * 1024) {
    const chunk = Buffer.alloc(Math.min(left, 64 * 1024), 'svc');
    chunk.writeDoubleBE(left);
    yield chunk;
  }
}

function digestOf(sizeBytes: number): string {
  const sum = createHash('sha256');
  for (const chunk of chunks(sizeBytes)) sum.update(chunk);
  return sum.digest('hex');
}

async function upload(url: string, sizeBytes: number): Promise<number> {
  const headers = { 'content-length': sizeBytes, 'content-type': 'application/zip' };
  const call = request(url, { method: 'PUT', headers, agent: false });
  const answered = once(call, 'response');
  await pipeline(Readable.from(chunks(sizeBytes)), call);
  const [answer] = (await answered) as [IncomingMessage];
  answer.resume();
  return answer.statusCode ?? 0;
}

async function download(url: string): Promise<string> {
  const [answer] = (await once(get(url, { agent: false }), 'response')) as [IncomingMessage];
  const sum = createHash('sha256');
  for await (const chunk of answer) sum.update(chunk as Buffer);
  return sum.digest('hex');
}

describe('a file of 100 MB', () => {
  it('goes up and down without being held in memory', async () => {
    // What the process takes for itself, whatever goes through it, is taken before.
    const small = await ask<{ id: string; url: string }>('open', 20 * MIB);
    expect(await upload(small.url, 20 * MIB)).toBe(200);
    const warm = await ask<string>('complete', small.id);
    for (let round = 0; round < 3; round += 1) await download(warm);
    const before = await ask<number>('peak');

    const { id, url } = await ask<{ id: string; url: string }>('open', SIZE_BYTES);
    expect(await upload(url, SIZE_BYTES)).toBe(200);
    const afterUpload = await ask<number>('peak');
    const link = await ask<string>('complete', id);
    expect(await download(link)).toBe(digestOf(SIZE_BYTES));
    const afterDownload = await ask<number>('peak');

    expect(afterUpload - before).toBeLessThan(GROWTH_MAX_BYTES);
    expect(afterDownload - before).toBeLessThan(GROWTH_MAX_BYTES);
  });
});
