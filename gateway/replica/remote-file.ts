import { pipeline } from 'node:stream/promises';
import type { Dispatcher } from 'undici';
import { errorCode } from '../../shared/lib/guards.ts';
import type { Exchange } from './source.ts';

/** The header of a database file: its magic, then page size and page count, big-endian. */
const MAGIC = Buffer.from('SQLite format 3\0', 'latin1');
const HEADER_BYTES = 100;
const PAGE_BYTES_AT = 16;
const PAGES_AT = 28;

/** A database file that we pass on as it arrives over the network. */
export interface RemoteFile {
  readonly sizeBytes: number;
  /**
   * Sends the file as fast as the client reads it. If its length differs from the announced one, it breaks the connection so
   * that the client notices. Rejects on server errors, but not if the client leaves.
   */
  send(
    exchange: Exchange,
    status: number,
    headers: Readonly<Record<string, string>>,
  ): Promise<void>;
}

/** Codes of errors that only mean that the client has left. */
const LEFT = ['ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED', 'UND_ERR_ABORTED'];

/** Checks the first bytes. Rejects if the file isn't a database. */
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
    throw new Error("The database server sent a file that isn't a database.");
  }
  return {
    sizeBytes,
    async send({ outgoing }, status, sent) {
      // Nothing else tells the code that waits for the next chunk.
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

/** The file's length by its header, for servers that don't announce it. */
function sizeIn(head: Buffer): number {
  if (!isDatabase(head)) return 0;
  const pageBytes = head.readUInt16BE(PAGE_BYTES_AT);
  // 65,536 doesn't fit in two bytes, so SQLite writes 1 for it.
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
  if (left !== 0) throw new Error('The database server sent a file with the wrong length.');
}
