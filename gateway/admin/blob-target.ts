import { createReadStream } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writeStreamSynced } from '../lib/durable-files.ts';
import type { S3Config } from '../blobs/blobs-config.ts';
import { FileBlobStore } from '../blobs/blob-store.ts';
import { S3BlobStore } from '../blobs/s3-blob-store.ts';
import { S3Client } from '../blobs/s3-client.ts';
import { AdminError } from './admin-error.ts';
import { blobFile, checkFile, copyTo } from './copies.ts';
import type { StoredBlob } from './project-copy.ts';

/** Larger ones are not held in memory. */
const AT_ONCE_MAX_BYTES = 8 * 1024 * 1024;

/** Where a gateway keeps the blobs of one project, seen from outside of it. */
export interface BlobTarget {
  /** Copies a blob to a new file, and checks it. */
  fetch(blob: StoredBlob, file: string): Promise<void>;
  /** Takes a blob in whose file was checked. */
  store(blob: StoredBlob, file: string): Promise<void>;
  /** Takes back what was stored. */
  undo(): Promise<void>;
  close(): void;
}

/** Beside the databases: those of a project in `projects/<id>` below `folder`. */
export function folderTarget(folder: string, projectId: string): BlobTarget {
  const at = ({ digest }: StoredBlob): string => join(folder, blobFile(projectId, digest));
  return {
    async fetch(blob, file) {
      // A blob never changes: a second name for it will do.
      await copyTo(at(blob), file, true);
      await checkFile(file, { size_bytes: blob.sizeBytes, sha256: blob.digest });
    },
    store: (blob, file) => copyTo(file, at(blob), false),
    // Its folder goes with all there is in it.
    undo: async () => undefined,
    close: () => undefined,
  };
}

/** As `folderTarget`, where other gateways see the folder: a blob is there whole, or not at all. */
export function sharedFolderTarget(folder: string, projectId: string): BlobTarget {
  const store = new FileBlobStore(join(folder, 'projects', projectId, 'blobs'));
  return {
    ...folderTarget(folder, projectId),
    async store({ sizeBytes }, file) {
      (await store.putStream(createReadStream(file), sizeBytes)).release();
    },
  };
}

/** In a bucket. */
export class BucketTarget implements BlobTarget {
  readonly #client: S3Client;
  readonly #store: S3BlobStore;
  readonly #projectId: string;
  readonly #stored: string[] = [];

  constructor(place: S3Config, projectId: string) {
    this.#client = new S3Client(place);
    this.#store = new S3BlobStore(this.#client, projectId);
    this.#projectId = projectId;
  }

  async fetch({ digest, sizeBytes }: StoredBlob, file: string): Promise<void> {
    const key = this.#key(digest);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const found = await this.#client.reading(key, async ({ body }) => {
      // What an attempt before has left.
      await rm(file, { force: true });
      return writeStreamSynced(file, body, sizeBytes);
    });
    if (found !== digest) {
      throw new AdminError(`${key} is damaged: its digest doesn't match.`);
    }
  }

  async store({ digest, sizeBytes }: StoredBlob, file: string): Promise<void> {
    // Two gateways may share a bucket: what is there already is not ours to take back.
    if ((await this.#client.head(this.#key(digest))) === sizeBytes) return;
    this.#stored.push(digest);
    const blob =
      sizeBytes <= AT_ONCE_MAX_BYTES
        ? await this.#store.put(await readFile(file), digest)
        : await this.#store.putStream(createReadStream(file), sizeBytes);
    blob.release();
  }

  async undo(): Promise<void> {
    for (const digest of this.#stored) await this.#client.delete(this.#key(digest));
  }

  close(): void {
    this.#client.close();
  }

  #key(digest: string): string {
    return `projects/${this.#projectId}/blobs/${digest}`;
  }
}
