import { createReadStream } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writeStreamSynced } from '../../lib/durable-files.ts';
import type { S3Config } from '../../blobs/blobs-config.ts';
import { FileBlobStore } from '../../blobs/blob-store.ts';
import { bucketMarks, folderMarks, type CopyMarks } from '../../blobs/copy-marks.ts';
import { S3BlobStore } from '../../blobs/s3-blob-store.ts';
import { S3Client } from '../../blobs/s3-client.ts';
import { AdminError } from '../admin-error.ts';
import { blobFile, checkFile, copyTo } from './copies.ts';
import type { StoredBlob } from './project-copy.ts';

/** Larger blobs aren't held in memory. */
const AT_ONCE_MAX_BYTES = 8 * 1024 * 1024;

/** One project's blob store, as seen from outside the gateway. */
export interface BlobTarget {
  /** Keeps gateways from erasing blobs of the project meanwhile. */
  readonly marks: CopyMarks;
  /** Copies a blob to a new file and checks it. ENOENT if it's missing; throws an `AdminError` if it's damaged. */
  fetch(blob: StoredBlob, file: string): Promise<void>;
  /** Stores a blob from a checked file. */
  store(blob: StoredBlob, file: string): Promise<void>;
  /** Removes what was stored. */
  undo(): Promise<void>;
  close(): void;
}

/** Blobs next to the databases: a project's are in `projects/<id>` below `folder`. */
export function folderTarget(folder: string, projectId: string): BlobTarget {
  const at = ({ digest }: StoredBlob): string => join(folder, blobFile(projectId, digest));
  return {
    marks: folderMarks(join(folder, 'projects', projectId)),
    async fetch(blob, file) {
      // A hard link would be damaged together with the original.
      await copyTo(at(blob), file);
      await checkFile(file, { size_bytes: blob.sizeBytes, sha256: blob.digest });
    },
    store: (blob, file) => copyTo(file, at(blob)),
    // Its folder is deleted with everything in it.
    undo: async () => undefined,
    close: () => undefined,
  };
}

/** Like `folderTarget`, for a folder that other gateways see: a blob is there completely or not at all. */
export function sharedFolderTarget(folder: string, projectId: string): BlobTarget {
  const store = new FileBlobStore(join(folder, 'projects', projectId, 'blobs'));
  return {
    ...folderTarget(folder, projectId),
    async store({ sizeBytes }, file) {
      (await store.putStream(createReadStream(file), sizeBytes)).release();
    },
  };
}

/** Blobs in a bucket. */
export class BucketTarget implements BlobTarget {
  readonly marks: CopyMarks;
  readonly #client: S3Client;
  readonly #store: S3BlobStore;
  readonly #projectId: string;
  readonly #stored: string[] = [];

  constructor(place: S3Config, projectId: string) {
    this.#client = new S3Client(place);
    this.#store = new S3BlobStore(this.#client, projectId);
    this.#projectId = projectId;
    this.marks = bucketMarks(this.#client, projectId);
  }

  async fetch({ digest, sizeBytes }: StoredBlob, file: string): Promise<void> {
    const key = this.#key(digest);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const found = await this.#client.reading(key, async ({ body }) => {
      // Left by an earlier attempt.
      await rm(file, { force: true });
      return writeStreamSynced(file, body, sizeBytes);
    });
    if (found !== digest) {
      throw new AdminError(`${key} is damaged: its digest doesn't match.`);
    }
  }

  async store({ digest, sizeBytes }: StoredBlob, file: string): Promise<void> {
    // Gateways may share a bucket, so don't remove blobs that were there already.
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
