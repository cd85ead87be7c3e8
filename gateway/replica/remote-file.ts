import { pipeline } from 'node:stream/promises';
import type { Dispatcher } from 'undici';
import { errorCode } from '../../shared/lib/guards.ts';
import type { Exchange } from './source.ts';

/** In the header of a database: what it begins with, the bytes of a page, and the pages it has, big-endian. */
const MAGIC = Buffer.from('SQLite format 3\0', 'latin1');
const HEADER_BYTES = 100;
const PAGE_BYTES_AT = 16;
const PAGES_AT = 28;

/** A database file that comes over the network, and goes on as it comes. */
export interface RemoteFile {
  readonly sizeBytes: number;
  /**
   * Answers with it: no faster than the client takes it. A file of another length than was said breaks the connection off,
   * so that the client notices. Rejects for trouble of the server, not for clients who leave.
   */
  send(
    exchange: Exchange,
    status: number,
    headers: Readonly<Record<string, string>>,
  ): Promise<void>;
}

/** Of errors that mean no more than that the client has left. */
const LEFT = ['ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED', 'UND_ERR_ABORTED'];

/** Looks at its first bytes. Rejects for what is no database. */
export async function openRemoteFile({
  headers,
  body,
}: Pick<Dispatcher.ResponseData, 'headers' | 'body'>): Promise<RemoteFile> {
  const chunks: AsyncIterator<Buffer> = body[Symbol.asyncIterator]();
  const head = await readHead(chunks);
  const told = Number(headers['content-length']);
  const sizeBytes = told > 0 ? told : sizeIn(head);
  if (!isDatabase(head)) {
    body.destroy();
    throw new Error('The database server sent no database.');
  }
  return {
    sizeBytes,
    async send({ outgoing }, status, sent) {
      // Whoever waits for the next portion is not told in another way.
      outgoing.once('close', () => body.destroy());
      try {
        outgoing.writeHead(status, sent);
        await pipeline(exactly(head, chunks, sizeBytes), outgoing);
      } catch (error) {
        if (!LEFT.includes(errorCode(error) ?? '')) throw error;
      } finally {
        body.destroy();
      }
    },
  };
}

async function readHead(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  let head = Buffer.alloc(0);
  while (head.length < HEADER_BYTES) {
    const next = await chunks.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  return head;
}

function isDatabase(head: Buffer): boolean {
  return head.length >= HEADER_BYTES && head.subarray(0, MAGIC.length).equals(MAGIC);
}

/** Where the server does not say how long the file is. */
function sizeIn(head: Buffer): number {
  if (!isDatabase(head)) return 0;
  const pageBytes = head.readUInt16BE(PAGE_BYTES_AT);
  // The largest page is too large for two bytes.
  return (pageBytes === 1 ? 65_536 : pageBytes) * head.readUInt32BE(PAGES_AT);
}

async function* exactly(
  head: Buffer,
  chunks: AsyncIterator<Buffer>,
  sizeBytes: number,
): AsyncGenerator<Buffer> {
  let left = sizeBytes - head.length;
  yield head;
  while (left >= 0) {
    const next = await chunks.next();
    if (next.done) break;
    left -= next.value.length;
    if (left >= 0) yield next.value;
  }
  if (left !== 0)
    throw new Error('The database server sent a file of another length than it said.');
}
