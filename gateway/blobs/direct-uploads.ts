import type { Clock } from '../../shared/lib/clock.ts';
import type { DirectUploads, UploadAddress } from '../../shared/kernel/context.ts';
import { UPLOAD_MS } from '../../shared/lib/limits.ts';
import type { ProjectReader } from '../../shared/store/project-store.ts';
import type { ProjectWrites } from '../commit/thread/writers.ts';
import { BlobSizeError } from '../lib/durable-files.ts';
import { isMissing } from './blob-store.ts';
import type { S3BlobStore } from './s3-blob-store.ts';

/** Reads and writes of a project's database. */
interface Sides {
  readonly store: ProjectReader;
  readonly writes: ProjectWrites;
}

/** Uploads that clients send straight to the bucket. The gateway reads their bytes only when they become a file. */
export class BucketUploads implements DirectUploads {
  readonly #sides: Sides;
  readonly #blobs: S3BlobStore;
  readonly #clock: Clock;
  readonly #collecting = new Map<string, Promise<void>>();

  constructor(sides: Sides, blobs: S3BlobStore, clock: Clock) {
    this.#sides = sides;
    this.#blobs = blobs;
    this.#clock = clock;
  }

  address(upload: {
    readonly id: string;
    readonly size: number;
    readonly contentType: string;
  }): Promise<UploadAddress> {
    const { id, ...rest } = upload;
    return this.#blobs.presignPut(id, { ...rest, expiresInSeconds: UPLOAD_MS / 1000 });
  }

  /** One at a time per upload, so that its bytes aren't read twice. */
  collect(uploadId: string): Promise<void> {
    const running = this.#collecting.get(uploadId);
    if (running) return running;
    const collecting = this.#collect(uploadId).finally(() => this.#collecting.delete(uploadId));
    this.#collecting.set(uploadId, collecting);
    return collecting;
  }

  async #collect(uploadId: string): Promise<void> {
    const upload = await this.#sides.store.read((store) => store.uploads.find(uploadId));
    const now = this.#clock.now();
    if (!upload || upload.digest !== null || upload.expires_at <= now) return;
    const blob = await this.#blobs.adopt(uploadId, upload.size_bytes).catch((error: unknown) => {
      // Nothing was sent, or not all of it; completing reports that.
      if (isMissing(error) || error instanceof BlobSizeError) return null;
      throw error;
    });
    if (!blob) return;
    const { digest, release } = blob;
    try {
      await this.#sides.writes.run('uploadReceived', { uploadId, digest, now });
      // Only now: if another gateway finds nothing there, the row tells it that the bytes were received.
      await this.#blobs.dropUpload(uploadId);
    } finally {
      release();
    }
  }
}
