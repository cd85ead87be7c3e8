import { ServiceError } from '../../../../shared/lib/errors.ts';
import { dropReference } from '../../../../shared/operations/file/quota.ts';
import { type Command } from '../../context/job.ts';

/** An upload whose bytes are stored. */
interface ReceivedUpload {
  readonly uploadId: string;
  readonly digest: string;
  readonly now: number;
}

/** Points an upload to its new bytes instead of the old ones. NOT_FOUND if the upload was dropped or has expired. */
export const uploadReceived: Command<ReceivedUpload, null> = {
  async run(job, { uploadId, digest, now }) {
    const { store } = job;
    const upload = await store.uploads.find(uploadId);
    if (!upload || upload.expires_at <= now) throw new ServiceError('NOT_FOUND');
    if (upload.digest === digest) return null;
    await store.blobs.addReference(digest, upload.size_bytes);
    await store.uploads.setDigest(uploadId, digest);
    if (upload.digest !== null) await dropReference(job, upload.digest);
    return null;
  },
};
