import { join } from 'node:path';
import type { DamageRegister } from '../../shared/store/sums/damage.ts';
import type { OthersPins } from './pins.ts';
import { FileBlobStore } from './blob-store.ts';
import { S3BlobStore } from './s3-blob-store.ts';
import type { S3Client } from './s3-client.ts';

/** Where a gateway has its blobs, and where it reports damaged ones. */
export interface BlobPlace {
  /** Null keeps blobs in a folder. */
  readonly bucket: S3Client | null;
  /** In the data folder, or shared with other gateways. */
  readonly blobsFolder: string;
  readonly damage: DamageRegister;
}

interface BlobsDeps extends BlobPlace {
  readonly project: string;
  /** Gets each digest that nobody pins any more. */
  readonly onFree: (digest: string) => void;
  readonly shared: OthersPins;
  /** Throws if the disk has no room for this many bytes. */
  readonly admit: (bytes: number) => void;
  /** Whether a row of the project names the blob. */
  isReferenced(digest: string): Promise<boolean>;
}

/** The blobs of a project of a running gateway. */
export function openBlobs(deps: BlobsDeps): FileBlobStore | S3BlobStore {
  const { project, bucket, blobsFolder, damage: register, onFree, shared, admit } = deps;
  const watch = { project, register, isReferenced: (one: string) => deps.isReferenced(one) };
  if (bucket) return new S3BlobStore(bucket, project, onFree, shared, watch);
  const folder = join(blobsFolder, 'projects', project, 'blobs');
  return new FileBlobStore(folder, onFree, shared, { admit, watch });
}
