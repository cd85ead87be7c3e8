import { createHash } from 'node:crypto';
import { FILE_INLINE_MAX_BYTES, FILE_MAX_BYTES } from '../../shared/lib/limits.ts';
import { otherBytes, tooLarge, transferBroken } from './faults.ts';
import { uploadTo } from './http-transfer.ts';
import type { Meter } from './progress.ts';
import { isUploadType, storedFile, type RemoteDisk } from './remote-disk.ts';
import type { Tries } from '../retry/tries.ts';
import { digestOf, type Source } from './source.ts';

type Answer = Readonly<Record<string, unknown>>;

interface FileUpload {
  readonly disk: RemoteDisk;
  readonly path: string;
  readonly contentType: string;
  readonly source: Source;
  readonly meter: Meter;
  readonly signal: AbortSignal;
  /** Retries the transfer of the bytes, which doesn't use `Client`. */
  readonly tries: Pick<Tries, 'run' | 'mayBeRepeat'>;
}

interface UploadResult {
  readonly answer: Answer;
  /** The hash of the bytes as they were read. */
  readonly sha256: string;
}

/** Sends a file in one body or as an upload, then checks that the saved file matches it. */
export async function sendFile(sending: FileUpload): Promise<Answer> {
  const { path, contentType, source } = sending;
  const { name, sizeBytes } = source;
  if (sizeBytes > FILE_MAX_BYTES) throw tooLarge(`"${name}"`, sizeBytes);
  const inBody = sizeBytes <= FILE_INLINE_MAX_BYTES && !isUploadType(contentType);
  const { answer, sha256 } = await (inBody ? sendBody(sending) : sendUpload(sending));
  const there = storedFile(answer);
  if (there.sizeBytes === sizeBytes && (there.sha256 ?? sha256) === sha256) return answer;
  const read = { sizeBytes, sha256 };
  throw otherBytes(`The file saved as "${path}" doesn't match the original.`, read, there);
}

async function sendBody({
  disk,
  path,
  contentType,
  source,
  meter,
}: FileUpload): Promise<UploadResult> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source.chunks()) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const answer = await disk.put(path, contentType, bytes);
  meter.add(bytes.length);
  return { answer, sha256: createHash('sha256').update(bytes).digest('hex') };
}

async function sendUpload(sending: FileUpload): Promise<UploadResult> {
  const { disk, path, contentType, source, meter, signal, tries } = sending;
  const { sizeBytes } = source;
  const { id, url, headers } = await disk.beginUpload(path, sizeBytes, contentType);
  const sent = await tries.run(async () => {
    const read = new ReadOnce(source, meter);
    try {
      await uploadTo({ url, headers, sizeBytes, chunks: read.chunks(), signal });
      return { sha256: read.digest(), answer: null };
    } catch (error) {
      // A repeated call gets the first call's link, which no longer works if that upload succeeded.
      const answer = tries.mayBeRepeat && (await disk.completeUpload(path, id).catch(() => null));
      if (!answer) throw error;
      return { sha256: await digestOf(source), answer };
    }
  });
  return { sha256: sent.sha256, answer: sent.answer ?? (await disk.completeUpload(path, id)) };
}

/** Reads a source once and computes its digest. */
class ReadOnce {
  readonly #source: Source;
  readonly #meter: Meter;
  readonly #hash = createHash('sha256');
  #isWhole = false;

  constructor(source: Source, meter: Meter) {
    this.#source = source;
    this.#meter = meter;
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    for await (const chunk of this.#source.chunks()) {
      this.#hash.update(chunk);
      this.#meter.add(chunk.length);
      yield chunk;
    }
    this.#isWhole = true;
  }

  digest(): string {
    if (!this.#isWhole) throw transferBroken('upload', 'the server took only part of it');
    return this.#hash.digest('hex');
  }
}
