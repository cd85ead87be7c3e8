import { createHash } from 'node:crypto';
import { otherBytes } from './faults.ts';
import { downloadFrom } from './http-transfer.ts';
import type { Meter } from './progress.ts';
import type { FetchedFile } from './remote-disk.ts';

interface Receiving {
  readonly write: (bytes: Uint8Array) => Promise<void>;
  readonly meter: Meter;
  readonly signal: AbortSignal;
}

interface DownloadResult {
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** Writes a file's content in chunks; fails at the end if the content doesn't match the stored size or hash. */
export async function receiveFile(file: FetchedFile, to: Receiving): Promise<DownloadResult> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  for await (const chunk of contentOf(file, to.signal)) {
    sizeBytes += chunk.length;
    // More bytes than expected are wrong and must not fill the local disk.
    if (sizeBytes > file.sizeBytes) break;
    hash.update(chunk);
    await to.write(chunk);
    to.meter.add(chunk.length);
  }
  const received = { sizeBytes, sha256: hash.digest('hex') };
  const isSame =
    sizeBytes === file.sizeBytes && (file.sha256 ?? received.sha256) === received.sha256;
  if (isSame) return received;
  throw otherBytes(`The download of "${file.path}" doesn't match the stored file.`, file, received);
}

async function* contentOf({ content }: FetchedFile, signal: AbortSignal) {
  if (content.kind === 'bytes') yield content.bytes as Uint8Array;
  else yield* downloadFrom(content.url, signal);
}
