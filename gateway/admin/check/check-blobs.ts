import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Readable } from 'node:stream';
import { errorCode } from '../../../shared/lib/guards.ts';
import { S3Client } from '../../blobs/s3-client.ts';
import { blobFile } from '../backup/copies.ts';
import type { ProjectCopy, StoredBlob } from '../backup/project-copy.ts';
import type { AdminSettings } from '../settings.ts';

const DIGEST = /^[0-9a-f]{64}$/;
const MISSING = 'is missing';

type Report = (project: string, place: string, what: string, problem: string) => void;

interface BlobCheckOptions {
  readonly project: string;
  readonly signal: AbortSignal;
  /** Called for each blob. */
  readonly onBlob: () => void;
}

/** Compares blobs with the digests that name them, in a folder or a bucket. */
export class BlobCheck {
  /** Blobs and bytes so far. */
  count = 0;
  sizeBytes = 0;
  readonly #folder: string;
  readonly #client: S3Client | null;
  readonly #report: Report;

  constructor({ blobs, blobsFolder, dataFolder }: AdminSettings, report: Report) {
    this.#folder = blobsFolder ?? dataFolder;
    this.#client = blobs && new S3Client(blobs);
    this.#report = report;
  }

  /** Checks every blob that a row of the project names. */
  async run(copy: ProjectCopy, { project, signal, onBlob }: BlobCheckOptions): Promise<void> {
    for await (const blob of copy.blobs()) {
      signal.throwIfAborted();
      this.count += 1;
      this.sizeBytes += blob.sizeBytes;
      onBlob();
      const problem = await this.problemOf(project, blob);
      // Its last row, and then its bytes, may have been deleted meanwhile.
      if (problem === null || !(await copy.isReferenced(blob.digest))) continue;
      this.#report(project, this.pathOf(project, blob), 'blob', problem);
    }
  }

  /** Checks every blob in the project's folder, whose database may not say which there should be. Not in a bucket. */
  async runFound({ project, signal, onBlob }: BlobCheckOptions): Promise<void> {
    if (this.#client) return;
    const folder = join(this.#folder, 'projects', project, 'blobs');
    const names = await readdir(folder, { recursive: true }).catch(() => []);
    for (const digest of names.map((name) => basename(name)).filter((name) => DIGEST.test(name))) {
      signal.throwIfAborted();
      const blob = { digest, sizeBytes: 0 };
      const problem = await this.problemOf(project, blob);
      onBlob();
      // One that is missing has been erased since.
      if (problem === null || problem === MISSING) continue;
      this.#report(project, this.pathOf(project, blob), 'blob', problem);
    }
  }

  /** What is wrong with a blob, as for a `Finding`; null if nothing is. */
  async problemOf(project: string, blob: StoredBlob): Promise<string | null> {
    try {
      const sum = this.#client
        ? await this.#client.reading(keyOf(project, blob), ({ body }) => sumOf(body))
        : await sumOf(createReadStream(this.pathOf(project, blob)));
      return sum === blob.digest ? null : "doesn't match its digest";
    } catch (error) {
      const code = errorCode(error) ?? '';
      if (code === 'ENOENT') return MISSING;
      // Other errors concern the bucket, or our permissions.
      if (code === 'EIO') return "can't be read";
      throw error;
    }
  }

  /** The path of a blob, or its address in the bucket. */
  pathOf(project: string, blob: StoredBlob): string {
    const client = this.#client;
    if (client) return `s3://${client.bucket}/${keyOf(project, blob)}`;
    return join(this.#folder, blobFile(project, blob.digest));
  }

  close(): void {
    this.#client?.close();
  }
}

function keyOf(project: string, { digest }: StoredBlob): string {
  return `projects/${project}/blobs/${digest}`;
}

async function sumOf(body: Readable): Promise<string> {
  const sum = createHash('sha256');
  for await (const chunk of body as AsyncIterable<Uint8Array>) sum.update(chunk);
  return sum.digest('hex');
}
