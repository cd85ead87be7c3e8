import { describe, expect, it } from 'vitest';
import type { BlobTarget } from '../../../gateway/admin/backup/blob-target.ts';
import type { ProjectCopy } from '../../../gateway/admin/backup/project-copy.ts';
import { BlobTroubles, copyBlobs } from '../../../gateway/admin/backup/steady-copy.ts';

const [GOOD, BAD] = ['a'.repeat(64), 'b'.repeat(64)] as const;

async function* blobs() {
  for (const digest of [BAD, GOOD]) yield { digest, sizeBytes: 3 };
}

const place = {
  async fetch({ digest }: { readonly digest: string }) {
    if (digest === BAD) throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' });
  },
} as Partial<BlobTarget> as BlobTarget;

describe('a backup with a blob that the disk can’t read', () => {
  it('names it and takes the others', async () => {
    const troubles = new BlobTroubles();
    const copied = await copyBlobs({ blobs } as unknown as ProjectCopy, place, {
      fileOf: () => '/nowhere',
      signal: new AbortController().signal,
      onBlob: () => undefined,
      troubles,
    });
    expect(copied).toEqual({ count: 1, size_bytes: 3 });
    expect([...troubles.found]).toEqual([[BAD, "can't be read"]]);
  });
});
