import { hash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { S3BlobStore } from '../../../gateway/blobs/s3-blob-store.ts';
import { S3Client, type S3Timeouts } from '../../../gateway/blobs/s3-client.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** What a bucket does that is not well: one answer for each request, the last for all that follow. */
let answers: Answer[];
let asked: string[];
let server: Server;
let clients: S3Client[];
/** With all the time in the world for a bucket that is silent. */
let client: S3Client;
beforeEach(async () => {
  answers = [];
  asked = [];
  server = createServer((request, response) => {
    asked.push(request.method ?? '');
    request.resume();
    (answers.length > 1 ? answers.shift() : answers[0])?.(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  clients = [];
  client = newClient();
});
afterEach(async () => {
  for (const one of clients) one.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function newClient(patience: Partial<S3Timeouts> = {}): S3Client {
  const { port } = server.address() as AddressInfo;
  const place = {
    kind: 's3',
    bucket: 'bucket',
    endpoint: new URL(`http://127.0.0.1:${port}`),
    region: 'r',
    pathStyle: true,
    credentials: { accessKeyId: 'id', secretAccessKey: 'secret', sessionToken: 'token' },
  } as const;
  const made = new S3Client(place, { pauseMs: 1, ...patience });
  clients.push(made);
  return made;
}

/** For tests about silence alone: a machine that rests for as long as this is one that is silent. */
const impatient = (): S3Client => newClient({ silenceMs: 2500, copySilenceMs: 2500 });

const status =
  (code: number, body = ''): Answer =>
  (_request, response) => {
    response.writeHead(code, { 'Content-Length': Buffer.byteLength(body) }).end(body);
  };
const failed = (code: string): string => `<?xml version="1.0"?><Error><Code>${code}</Code></Error>`;
const cut: Answer = (_request, response) => response.destroy();
const silent: Answer = () => undefined;
/** Announces more than it sends. */
const short: Answer = (_request, response) => {
  response.writeHead(200, { 'Content-Length': 10 }).write('01234', () => response.destroy());
};
const half: Answer = (_request, response) => {
  response.writeHead(200, { 'Content-Length': 10 }).write('01234');
};

const unavailable = { code: 'UNAVAILABLE', details: { retry_after: 5 } };
const bytes = Buffer.from('0123456789');
const digest = hash('sha256', bytes);

describe('a call that may be repeated', () => {
  it.each([
    ['503', status(503)],
    ['500', status(500, failed('InternalError'))],
    ['429', status(429)],
    ['a request that took too long', status(400, failed('RequestTimeout'))],
    ['a connection that breaks', cut],
  ])('is made again after %s', async (_what, bad) => {
    answers = [bad, bad, status(200)];
    await client.put('key', bytes, digest);
    expect(asked).toEqual(['PUT', 'PUT', 'PUT']);
  });

  it('is made again after silence', async () => {
    answers = [silent, silent, status(200)];
    await impatient().put('key', bytes, digest);
    expect(asked).toEqual(['PUT', 'PUT', 'PUT']);
  });

  it.each([
    ['403', status(403, failed('AccessDenied'))],
    ['501', status(501)],
    ['a redirection', status(307)],
  ])('is not after %s', async (_what, bad) => {
    answers = [bad];
    await expect(client.put('key', bytes, digest)).rejects.toMatchObject(unavailable);
    expect(asked).toEqual(['PUT']);
  });

  it('is given up in the end, with the reason for the log', async () => {
    answers = [status(503, failed('SlowDown'))];
    const message = 'DELETE key: 503 SlowDown';
    await expect(client.delete('key')).rejects.toMatchObject({
      ...unavailable,
      cause: { message },
    });
    expect(asked).toHaveLength(4);
  });
});

describe('an object', () => {
  it('that breaks off is read again from its start', async () => {
    answers = [short, status(200, '0123456789')];
    expect(await client.reading('key', ({ body }) => text(body))).toBe('0123456789');
  });

  it('that is open and breaks off, or stalls, is UNAVAILABLE', async () => {
    for (const bad of [short, half]) {
      answers = [bad];
      const { body } = await impatient().open('key');
      await expect(text(body)).rejects.toMatchObject(unavailable);
    }
  });

  it('waits for a slow reader longer than for a silent bucket', async () => {
    const large = 'x'.repeat(4_000_000);
    answers = [status(200, large)];
    const { body } = await impatient().open('key');
    await sleep(3500);
    let came = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (came === 0) await sleep(3500);
      came += chunk.length;
    }
    expect(came).toBe(large.length);
  });

  it('of other bytes than its name says is not passed on', async () => {
    answers = [status(200, '9876543210')];
    const read = new S3BlobStore(client, 'prj_1').read(digest);
    await expect(read).rejects.toThrow(/^s3:.* \(blob\) is damaged\.$/);
  });
});

describe('a copy', () => {
  it('that fails after the bucket has said 200 is a failure', async () => {
    answers = [status(200, failed('InternalError')), status(200, '<CopyObjectResult/>')];
    await client.copy('from', 'to');
    expect(asked).toHaveLength(2);
    answers = [status(200, failed('AccessDenied'))];
    await expect(client.copy('from', 'to')).rejects.toMatchObject(unavailable);
  });
});

async function* chunks(): AsyncGenerator<Uint8Array> {
  yield bytes.subarray(0, 5);
  await sleep(1000);
  yield bytes.subarray(5);
}

async function* megabytes(): AsyncGenerator<Uint8Array> {
  for (let one = 0; one < 200; one += 1) yield Buffer.alloc(1_000_000);
}

describe('bytes that come in chunks', () => {
  it('are sent once, however slow their sender is', async () => {
    const hasty = impatient();
    answers = [(request, response) => request.on('end', () => response.end())];
    await hasty.putStream('key', chunks(), 10);
    answers = [status(503)];
    await expect(hasty.putStream('key', chunks(), 10)).rejects.toMatchObject(unavailable);
    answers = [cut];
    await expect(hasty.putStream('key', chunks(), 10)).rejects.toMatchObject(unavailable);
    expect(asked).toHaveLength(3);
  });

  it('are not asked for any more when the bucket has refused them', async () => {
    answers = [status(403, failed('AccessDenied'))];
    let given = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (; given < 1000; given += 1) {
        yield bytes;
        await sleep(1);
      }
    }
    const cause = { status: 403, code: 'AccessDenied' };
    const sent = client.putStream('key', endless(), 10_000);
    await expect(sent).rejects.toMatchObject({ ...unavailable, cause });
    await sleep(100);
    expect(given).toBeLessThan(500);
  });

  it('are not waited for when the bucket takes none of them', async () => {
    answers = [(request) => request.pause()];
    const sent = impatient().putStream('key', megabytes(), 200_000_000);
    await expect(sent).rejects.toMatchObject(unavailable);
  });
});

const object = (key: string, time: string): string =>
  `<Contents><Key>${key}</Key><LastModified>${time}</LastModified></Contents>`;
const page = (objects: string, more: string): string =>
  `<ListBucketResult>${more}${objects}</ListBucketResult>`;

describe('a listing', () => {
  it('goes on from page to page, and leaves out what it does not understand', async () => {
    const first = object('a&amp;b', '2026-01-02T03:04:05.000Z') + object('never', 'no time');
    const more =
      '<IsTruncated>true</IsTruncated><NextContinuationToken>a+/&lt;=</NextContinuationToken>';
    let query = '';
    answers = [
      status(200, page(first, more)),
      (request, response) => {
        query = request.url ?? '';
        response.end(page(object('c', '2026-01-02T03:04:06Z'), '<IsTruncated>false</IsTruncated>'));
      },
    ];
    const listed: unknown[] = [];
    for await (const one of client.list('p/')) listed.push(one);
    const changedAt = Date.UTC(2026, 0, 2, 3, 4, 5);
    expect(listed).toEqual([
      { key: 'a&b', changedAt },
      { key: 'c', changedAt: changedAt + 1000 },
    ]);
    expect(query).toContain('continuation-token=a%2B%2F%3C%3D&list-type=2&prefix=p%2F');
  });
});

describe('a bucket in the name of its host', () => {
  it('is in no path, and its addresses carry the token of a session', async () => {
    const amazon = new S3Client({
      kind: 's3',
      bucket: 'bucket',
      endpoint: new URL('https://s3.eu-central-1.amazonaws.com'),
      region: 'eu-central-1',
      pathStyle: false,
      credentials: { accessKeyId: 'id', secretAccessKey: 'secret', sessionToken: 'token' },
    });
    const headers = { 'Content-Type': 'text/plain', 'Content-Length': '3' };
    const signed = await amazon.presign({ method: 'PUT', key: 'a/b', headers }, 60);
    const { host, pathname, searchParams } = new URL(signed);
    expect(host).toBe('bucket.s3.eu-central-1.amazonaws.com');
    expect(pathname).toBe('/a/b');
    expect(searchParams.get('X-Amz-SignedHeaders')).toBe('content-length;content-type;host');
    expect(searchParams.get('X-Amz-Expires')).toBe('60');
    expect(searchParams.get('X-Amz-Security-Token')).toBe('token');
  });
});
