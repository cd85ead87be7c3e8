import { randomBytes } from 'node:crypto';
import { open } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import type { RunBench } from '../bench.ts';
import { interleave } from '../bench.ts';
import type { ServeOptions, Served } from '../child/gateway.ts';
import { Nginx } from '../nginx.ts';
import { quantile, ratios, spread } from '../stats.ts';
import { findTool, missing } from '../tools.ts';

const MIB = 1024 * 1024;
const NGINX = 'nginx WebDAV, one process';

const PUT = {
  bench: 'files',
  what: '1 MB file put over HTTP, synced, p50',
  target: { of: 'ratio', op: '>=', limit: 0.5 },
} as const;
const GET = {
  bench: 'files',
  what: '1 MB file by link over HTTP, p50',
  target: { of: 'ratio', op: '>=', limit: 0.5 },
} as const;

/** Files of 1 MB, one after another on one connection, against a web server that does nothing else. */
export const files: RunBench = async (bench) => {
  const path = findTool('nginx');
  if (!path) return [PUT, GET].map((row) => ({ ...row, skipped: missing('nginx') }));
  const nginx = bench.workshop.own(await Nginx.start(path, bench.workshop.place('nginx')));
  const child = await bench.workshop.child('gateway');
  const options: ServeOptions = {
    folder: bench.workshop.place('files'),
    secret: 'none',
    variant: 'durable',
  };
  const served = await child.call<Served>('serve', options);
  const sides = await sidesOf(served, nginx);
  const times = bench.quick ? 20 : 60;
  const one = async (task: () => Promise<void>): Promise<number> => {
    const samples: number[] = [];
    for (let time = 0; time < times; time += 1) {
      const start = performance.now();
      await task();
      samples.push(performance.now() - start);
    }
    return quantile(samples, 0.5);
  };
  const ms = await interleave<keyof typeof sides, number>(bench, {
    put: () => one(sides.put),
    nginxPut: () => one(sides.nginxPut),
    get: () => one(sides.get),
    nginxGet: () => one(sides.nginxGet),
  });
  await child.end();
  await nginx.end();
  const row = (what: typeof PUT | typeof GET, ours: number[], theirs: number[]) => ({
    ...what,
    value: { unit: 'ms', spread: spread(ours) },
    baseline: { name: NGINX, unit: 'ms', spread: spread(theirs) },
    // A rate is the inverse of a time.
    ratio: ratios(theirs, ours),
  });
  return [row(PUT, ms.put, ms.nginxPut), row(GET, ms.get, ms.nginxGet)];
};

type Task = () => Promise<void>;

async function sidesOf(
  served: Served,
  nginx: Nginx,
): Promise<Record<'put' | 'nginxPut' | 'get' | 'nginxGet', Task>> {
  const authorization = { authorization: `Bearer ${served.apiKey}` };
  const type = { 'content-type': 'application/octet-stream' };
  // One byte more than an answer takes, so that it comes by a link.
  const large = randomBytes(MIB + 1);
  const link = await uploaded(served, large);
  await send('PUT', `${nginx.url}/large`, {}, large);
  let number = 0;
  /** Bytes that were never there before: what is known need not be written again. */
  const fresh = (): Buffer => {
    number += 1;
    const bytes = Buffer.from(large.subarray(0, MIB));
    bytes.writeUInt32BE(number);
    return bytes;
  };
  return {
    put: async () => {
      const url = `${served.url}/v1/files/bench%2F${number % 50}`;
      await send('PUT', url, { ...authorization, ...type }, fresh());
    },
    nginxPut: async () => {
      const name = `file-${number % 50}`;
      await send('PUT', `${nginx.url}/${name}`, type, fresh());
      // It does not sync by itself.
      for (const path of [join(nginx.root, name), nginx.root]) {
        const handle = await open(path, 'r');
        await handle.sync();
        await handle.close();
      }
    },
    get: () => send('GET', link, {}),
    nginxGet: () => send('GET', `${nginx.url}/large`, {}),
  };
}

/** The download link of a file that was sent as an upload. */
async function uploaded(served: Served, bytes: Buffer): Promise<string> {
  const url = `${served.url}/v1/files/large`;
  const headers = {
    authorization: `Bearer ${served.apiKey}`,
    'content-type': 'application/vnd.service.upload+json',
  };
  const call = async (body: unknown): Promise<Record<string, unknown>> => {
    const answer = await fetch(url, { method: 'PUT', headers, body: JSON.stringify(body) });
    return (await answer.json()) as Record<string, unknown>;
  };
  const type = 'application/octet-stream';
  const opened = await call({ upload: { size: bytes.length, content_type: type } });
  await send('PUT', String(opened['upload_url']), { 'content-type': type }, bytes);
  await call({ complete: opened['upload_id'] });
  const answer = await fetch(url, { headers });
  return String(((await answer.json()) as Record<string, unknown>)['download_url']);
}

function send(
  method: string,
  url: string,
  headers: Readonly<Record<string, string>>,
  body?: Buffer,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const length = body ? { 'content-length': String(body.length) } : {};
    const call = request(url, { method, headers: { ...headers, ...length } }, (answer) => {
      answer.resume();
      answer.on('error', reject);
      answer.on('end', () => {
        if ((answer.statusCode ?? 500) < 300) resolve();
        else reject(new Error(`${method} ${url} answered ${answer.statusCode}.`));
      });
    });
    call.on('error', reject);
    call.end(body);
  });
}
