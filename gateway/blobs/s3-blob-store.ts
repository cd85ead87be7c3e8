import { createHash, hash, randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { lengthOf, sha256Of, wholeOf, type Bytes } from '../../shared/lib/bytes.ts';
import type { BlobStore, PinnedBlob } from '../../shared/kernel/context.ts';
import { attachment } from '../lib/attachment.ts';
import { BlobSizeError } from '../lib/durable-files.ts';
import { BlobGuard, checkedStream, UNWATCHED, type BlobWatch } from './blob-guard.ts';
import { bucketMarks } from './copy-marks.ts';
import { Pins, type OthersPins } from './pins.ts';
import type { S3Client } from './s3-client.ts';
import { asStoreError, MissingObjectError, WireError } from './s3-errors.ts';

/** Longer than an upload may take: if no row names an object by then, none will. */
const ORPHAN_GRACE_MS = 3_600_000;
/** Shorter than the claim of an erasure, by more than the clock difference that the bucket accepts. */
const ERASE_WITHIN_SECONDS = 60;
const DIGEST = /^[0-9a-f]{64}$/;
/** The keys that a sweep knows, after a project's prefix. */
const NAMED = /^(?<folder>blobs|incoming|uploads)\/(?<name>[^/]+)$/;
const UPLOAD_ID = /^upl_[0-9a-z]+$/;

type Folder = 'blobs' | 'incoming' | 'uploads';

/** A URL to send bytes to, and the headers that must be sent with them unchanged. */
export interface PresignedUpload {
  readonly url: string;
  readonly headers: Record<string, string>;
}

/**
 * The blobs of one project in a bucket, as content-addressed objects: `projects/<id>/blobs/<sha256>`. Clients write
 * `uploads/<upload_id>` themselves, and `incoming/<uuid>` holds bytes whose digest isn't known yet. An object is stored
 * before a row may name it. It's deleted only after the commit that dropped the last row, and never while it's pinned or
 * a process copies the project: see `CopyMarks`.
 */
export class S3BlobStore implements BlobStore {
  readonly #client: S3Client;
  readonly #prefix: string;
  /** Pins by the last part of a key. */
  readonly #pins: Pins;
  readonly #guard: BlobGuard;

  /**
   * `onFree` gets each digest that nobody pins or copies any more; `shared` is null if no other process uses the bucket.
   * `watch` gets to know of damage.
   */
  constructor(
    client: S3Client,
    projectId: string,
    onFree: (digest: string) => void = () => {},
    shared: OthersPins = null,
    watch: BlobWatch = UNWATCHED,
  ) {
    this.#client = client;
    this.#pins = new Pins(onFree, shared, bucketMarks(client, projectId));
    this.#prefix = `projects/${projectId}/`;
    this.#guard = new BlobGuard(watch, (digest) => `s3://${client.bucket}/${this.#blob(digest)}`);
  }

  async put(bytes: Bytes, digest = sha256Of(bytes)): Promise<PinnedBlob> {
    return this.#pins.pinned(digest, async () => {
      const key = this.#blob(digest);
      if (!this.#guard.isDamaged(digest) && (await this.#client.head(key)) === lengthOf(bytes))
        return;
      await this.#client.put(key, wholeOf(bytes), digest);
      this.#guard.isWell(digest);
    });
  }

  /** Throws BlobSizeError unless exactly `sizeBytes` arrive. */
  async putStream(chunks: AsyncIterable<Uint8Array>, sizeBytes: number): Promise<PinnedBlob> {
    const name = randomUUID();
    const key = this.#key('incoming', name);
    // However slowly they arrive, no sweep takes them for orphans.
    const unpin = this.#pins.hold(name);
    const sum = createHash('sha256');
    try {
      await this.#client.putStream(key, measured(chunks, sizeBytes, sum), sizeBytes);
      const digest = sum.digest('hex');
      return await this.#pins.pinned(digest, () => this.#settle(key, digest, sizeBytes));
    } finally {
      unpin();
      await this.#discard(key);
    }
  }

  async read(digest: string): Promise<Uint8Array> {
    const key = this.#blob(digest);
    const bytes = await this.#guard.found(digest, () =>
      this.#client.reading(key, ({ body }) => buffer(body)),
    );
    if (hash('sha256', bytes) !== digest) throw this.#guard.damaged(digest);
    return bytes;
  }

  async open(digest: string): Promise<Readable> {
    const key = this.#blob(digest);
    const { body } = await this.#guard.found(digest, () => this.#client.open(key));
    return checkedStream(body, this.#guard.check(digest));
  }

  /** Checks all of a blob, once for each process, before somebody gets an address to read it from the bucket. */
  async check(digest: string): Promise<void> {
    const key = this.#blob(digest);
    const object = await this.#guard.found(digest, async () => {
      const stat = await this.#client.stat(key);
      if (!stat) throw new MissingObjectError(key);
      return stat;
    });
    await this.#guard.once(digest, `${object.sizeBytes} ${object.etag}`, () =>
      this.#client.reading(key, async ({ body }) => {
        const sum = createHash('sha256');
        for await (const chunk of body as AsyncIterable<Uint8Array>) sum.update(chunk);
        return sum.digest('hex');
      }),
    );
  }

  close(): void {
    this.#pins.close();
  }

  /** Deletes a blob unless it's pinned or copied, or `isReferenced` says that a row names it again. */
  remove(digest: string, isReferenced: (digest: string) => Promise<boolean>): Promise<void> {
    const key = this.#blob(digest);
    return this.#pins.remove(digest, isReferenced, {
      erase: async () => {
        await this.#client.delete(key);
        this.#guard.isWell(digest);
      },
      begin: () => this.#erasure(key),
    });
  }

  /** The bucket itself refuses a late deletion, so nothing has to be put back. */
  async #erasure(key: string) {
    const take = await this.#client.deletion(key, ERASE_WITHIN_SECONDS);
    return { take, finish: async () => undefined };
  }

  /**
   * Deletes objects that no row names, left by a crash between the object and its row or by a client that sent its bytes
   * after the upload had expired. Stops early if asked to.
   */
  async sweep(
    isReferenced: (digest: string) => Promise<boolean>,
    now: number,
    signal?: AbortSignal,
  ): Promise<void> {
    for await (const { key, changedAt } of this.#client.list(this.#prefix)) {
      if (signal?.aborted) return;
      if (now - changedAt < ORPHAN_GRACE_MS) continue;
      const { folder, name } = NAMED.exec(key.slice(this.#prefix.length))?.groups ?? {};
      if (folder === undefined || name === undefined) continue;
      if (folder !== 'blobs') await this.#deleteUnlessPinned(key, name);
      else if (DIGEST.test(name)) await this.remove(name, isReferenced);
    }
  }

  /** For one or more PUTs, each replacing the last, of exactly this many bytes of this type. */
  async presignPut(
    uploadId: string,
    upload: {
      readonly size: number;
      readonly contentType: string;
      readonly expiresInSeconds: number;
    },
  ): Promise<PresignedUpload> {
    // Blanks at its ends get lost on the way, which would break the signature.
    const contentType = upload.contentType.trim();
    const headers = { 'Content-Type': contentType, 'Content-Length': String(upload.size) };
    const call = { method: 'PUT', key: this.#upload(uploadId), headers } as const;
    return { url: await this.#client.presign(call, upload.expiresInSeconds), headers };
  }

  /** A link for anybody who has it, until it expires; browsers save the download and never show it. */
  presignGet(
    digest: string,
    file: {
      readonly fileName: string;
      readonly contentType: string;
      readonly expiresInSeconds: number;
    },
  ): Promise<string> {
    const query = {
      'response-cache-control': 'no-store',
      'response-content-disposition': attachment(file.fileName),
      'response-content-type': file.contentType.trim(),
    };
    const call = { method: 'GET', key: this.#blob(digest), query } as const;
    return this.#client.presign(call, file.expiresInSeconds);
  }

  /** The size of the uploaded bytes; null if there are none. */
  headUpload(uploadId: string): Promise<number | null> {
    return this.#client.head(this.#upload(uploadId));
  }

  /**
   * Turns uploaded bytes into a blob; the upload stays too. Reads them once for the checksum, a chunk at a time, and
   * copies them inside the bucket. UNAVAILABLE if they were replaced in between. Throws BlobSizeError unless there are
   * exactly `sizeBytes`, and ENOENT if nothing was uploaded.
   */
  async adopt(uploadId: string, sizeBytes: number): Promise<PinnedBlob> {
    const key = this.#upload(uploadId);
    const unpin = this.#pins.hold(uploadId);
    try {
      const { digest, etag } = await this.#client.reading(key, async (object) => {
        if (object.sizeBytes !== sizeBytes) throw new BlobSizeError(sizeBytes);
        const sum = createHash('sha256');
        for await (const chunk of object.body as AsyncIterable<Uint8Array>) sum.update(chunk);
        return { digest: sum.digest('hex'), etag: object.etag };
      });
      return await this.#pins.pinned(digest, () => this.#settle(key, digest, sizeBytes, etag));
    } finally {
      unpin();
    }
  }

  /** Deletes uploaded bytes once a row names them as a blob; if that fails, a sweep does it. */
  dropUpload(uploadId: string): Promise<void> {
    return this.#discard(this.#upload(uploadId));
  }

  /** Renames bytes in the bucket to their digest. */
  async #settle(key: string, digest: string, sizeBytes: number, etag?: string): Promise<void> {
    const blob = this.#blob(digest);
    if (!this.#guard.isDamaged(digest) && (await this.#client.head(blob)) === sizeBytes) return;
    await this.#client.copy(key, blob, etag);
    const copied = await this.#client.head(blob);
    if (copied === sizeBytes) return this.#guard.isWell(digest);
    throw asStoreError(new WireError(`PUT ${blob}: ${copied} of ${sizeBytes} bytes are stored`));
  }

  async #deleteUnlessPinned(key: string, name: string): Promise<void> {
    if (!this.#pins.has(name)) await this.#client.delete(key);
  }

  /** If this can't be deleted now, a sweep deletes it. */
  async #discard(key: string): Promise<void> {
    await this.#client.delete(key).catch(() => undefined);
  }

  #blob(digest: string): string {
    return this.#key('blobs', digest, DIGEST);
  }

  #upload(uploadId: string): string {
    return this.#key('uploads', uploadId, UPLOAD_ID);
  }

  /** A name that isn't ours counts as missing and leads nowhere else. */
  #key(folder: Folder, name: string, shape?: RegExp): string {
    const key = `${this.#prefix}${folder}/${name}`;
    if (shape && !shape.test(name)) throw new MissingObjectError(key);
    return key;
  }
}

/**
 * Passes each chunk on only when the next one has arrived, and the last only if the total is the announced number of
 * bytes. So a bucket never takes a wrong number of bytes for a complete object.
 */
async function* measured(
  chunks: AsyncIterable<Uint8Array>,
  sizeBytes: number,
  sum: ReturnType<typeof createHash>,
): AsyncGenerator<Uint8Array> {
  let came = 0;
  let held: Uint8Array | null = null;
  for await (const chunk of chunks) {
    came += chunk.length;
    if (came > sizeBytes) throw new BlobSizeError(sizeBytes);
    if (chunk.length === 0) continue;
    sum.update(chunk);
    if (held) yield held;
    held = chunk;
  }
  if (came < sizeBytes) throw new BlobSizeError(sizeBytes);
  if (held) yield held;
}
