import { createReadStream, existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorCode } from '../../../shared/lib/guards.ts';
import { FileBlobStore } from '../../blobs/blob-store.ts';
import type { S3Config } from '../../blobs/blobs-config.ts';
import { S3Client } from '../../blobs/s3-client.ts';
import { writeStreamSynced } from '../../lib/durable-files.ts';
import { AdminError } from '../admin-error.ts';
import { blobFile, checkFile } from '../backup/copies.ts';
import type { AdminSettings } from '../settings.ts';

export interface BlobSources {
  /** The folder of a backup. */
  readonly backup: string | null;
  readonly bucket: S3Config | null;
}

/** Puts good blobs in place of damaged or missing ones, one at a time. A gateway may use them meanwhile. */
export class BlobRepair {
  readonly #sources: BlobSources;
  readonly #from: S3Client | null;
  readonly #to: S3Client | null;
  readonly #folder: string;

  constructor({ blobs, blobsFolder, dataFolder }: AdminSettings, sources: BlobSources) {
    this.#sources = sources;
    this.#from = sources.bucket && new S3Client(sources.bucket);
    this.#to = blobs && new S3Client(blobs);
    this.#folder = blobsFolder ?? dataFolder;
  }

  /** Returns where the good bytes came from; null if no source has them. */
  async replace(project: string, digest: string): Promise<string | null> {
    const { backup, bucket } = this.#sources;
    const file = backup && join(backup, blobFile(project, digest));
    if (file && existsSync(file) && (await isGood(file, digest))) {
      await this.#put(project, digest, file);
      return backup;
    }
    if (!this.#from || !bucket) return null;
    const folder = await mkdtemp(join(tmpdir(), 'svc-repair-'));
    try {
      const fetched = join(folder, digest);
      if (!(await fetchedTo(fetched, this.#from, { project, digest }))) return null;
      await this.#put(project, digest, fetched);
      return `s3://${bucket.bucket}`;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** Stores a checked file. */
  async #put(project: string, digest: string, file: string): Promise<void> {
    if (this.#to) return this.#to.put(keyOf(project, digest), await readFile(file), digest);
    const store = new FileBlobStore(join(this.#folder, 'projects', project, 'blobs'));
    const { size } = await stat(file);
    (await store.putStream(createReadStream(file), size)).release();
  }

  close(): void {
    this.#from?.close();
    this.#to?.close();
  }
}

async function isGood(file: string, digest: string): Promise<boolean> {
  try {
    await checkFile(file, { size_bytes: (await stat(file)).size, sha256: digest });
    return true;
  } catch (error) {
    if (error instanceof AdminError) return false;
    throw error;
  }
}

/** False if the bucket hasn't got the right bytes. */
async function fetchedTo(
  file: string,
  client: S3Client,
  { project, digest }: { readonly project: string; readonly digest: string },
): Promise<boolean> {
  try {
    const sum = await client.reading(keyOf(project, digest), async ({ body, sizeBytes }) => {
      await rm(file, { force: true });
      return writeStreamSynced(file, body, sizeBytes);
    });
    return sum === digest;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

function keyOf(project: string, digest: string): string {
  return `projects/${project}/blobs/${digest}`;
}
