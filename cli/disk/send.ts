import { createHash } from 'node:crypto';
import { FILE_INLINE_MAX_BYTES, FILE_MAX_BYTES } from '../../shared/limits.ts';
import { otherBytes, tooLarge, transferBroken } from './faults.ts';
import { uploadTo } from './http-transfer.ts';
import type { Meter } from './progress.ts';
import { isUploadType, storedFile, type RemoteDisk } from './remote-disk.ts';
import type { Source } from './source.ts';

type Answer = Readonly<Record<string, unknown>>;

interface Sending {
  readonly disk: RemoteDisk;
  readonly path: string;
  readonly contentType: string;
  readonly source: Source;
  readonly meter: Meter;
  readonly signal: AbortSignal;
}

interface Sent {
  readonly answer: Answer;
  /** Of the bytes as they were read. */
  readonly sha256: string;
}

/** Sends a file, in one body or by an upload, and checks that what was saved is what was read. */
export async function sendFile(sending: Sending): Promise<Answer> {
  const { path, contentType, source } = sending;
  const { name, sizeBytes } = source;
  if (sizeBytes > FILE_MAX_BYTES) throw tooLarge(`"${name}"`, sizeBytes);
  const inBody = sizeBytes <= FILE_INLINE_MAX_BYTES && !isUploadType(contentType);
  const { answer, sha256 } = await (inBody ? sendBody(sending) : sendUpload(sending));
  const there = storedFile(answer);
  if (there.sizeBytes === sizeBytes && (there.sha256 ?? sha256) === sha256) return answer;
  const read = { sizeBytes, sha256 };
  throw otherBytes(`What was saved as "${path}" is not what was sent.`, read, there);
}

async function sendBody({ disk, path, contentType, source, meter }: Sending): Promise<Sent> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source.chunks()) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const answer = await disk.put(path, contentType, bytes);
  meter.add(bytes.length);
  return { answer, sha256: createHash('sha256').update(bytes).digest('hex') };
}

async function sendUpload(sending: Sending): Promise<Sent> {
  const { disk, path, contentType, source, meter, signal } = sending;
  const { sizeBytes } = source;
  const { id, url, headers } = await disk.beginUpload(path, sizeBytes, contentType);
  const hash = createHash('sha256');
  let isWhole = false;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for await (const chunk of source.chunks()) {
      hash.update(chunk);
      meter.add(chunk.length);
      yield chunk;
    }
    isWhole = true;
  }
  await uploadTo({ url, headers, sizeBytes, chunks: chunks(), signal });
  if (!isWhole) throw transferBroken('upload', 'the other side took only a part');
  return { answer: await disk.completeUpload(path, id), sha256: hash.digest('hex') };
}
