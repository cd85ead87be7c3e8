import { hash } from 'node:crypto';
import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { S3Client } from '../../../gateway/blobs/s3-client.ts';
import { FakeClock, temporaryFolder } from '../../helpers/gateway.ts';
import { hasSwift, Swift } from '../../helpers/swift.ts';
import { CONTENT, look, seed, SLUG, type Seeded } from './moving.ts';
import { operator } from './operator.ts';

describe.skipIf(!hasSwift())('a project whose files are in a bucket', () => {
  let swift: Swift;
  let root: ReturnType<typeof temporaryFolder>;
  let old: string;
  let fresh: string;
  let folder: string;
  beforeAll(async () => {
    swift = await Swift.start();
  });
  afterAll(() => swift.end());
  beforeEach(() => {
    root = temporaryFolder();
    [old, fresh, folder] = ['old', 'new', 'export'].map((name) => join(root.path, name)) as [
      string,
      string,
      string,
    ];
    mkdirSync(old);
    mkdirSync(fresh);
  });
  afterEach(() => root.remove());

  /** What makes a command use the bucket. */
  function inBucket(): Record<string, string> {
    const { bucket, endpoint, region, credentials } = swift.place;
    const options = new URLSearchParams({ endpoint: endpoint.origin, region, path_style: 'true' });
    return {
      SVC_BLOBS: `s3://${bucket}?${options.toString()}`,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    };
  }

  // Signatures go by the time of the bucket.
  const withBucket = () => ({ blobs: swift.place, clock: new FakeClock(Date.now()) });

  async function move(
    project: Seeded,
    { from, to }: { from: Record<string, string>; to: Record<string, string> },
  ): Promise<void> {
    copyFileSync(join(old, 'master.key'), join(fresh, 'master.key'));
    const made = await operator(['export', SLUG, folder, '--data', old], from);
    expect([made.code, made.out]).toEqual([0, expect.stringContaining(project.id)]);
    const taken = await operator(['import', folder, '--data', fresh], to);
    expect([taken.code, taken.out]).toEqual([0, expect.stringContaining(project.id)]);
  }

  async function keys(project: Seeded): Promise<string[]> {
    const client = new S3Client(swift.place);
    const found: string[] = [];
    for await (const { key } of client.list(`projects/${project.id}/`)) found.push(key);
    client.close();
    return found;
  }

  it('takes them along to a gateway without one', async () => {
    const project = await seed(old, withBucket());
    await move(project, { from: inBucket(), to: {} });
    expect(await look(fresh, project)).toMatchObject({ isFileWhole: true, owned: [SLUG] });
  });

  it('brings them into the bucket of the other gateway', async () => {
    const project = await seed(old);
    await move(project, { from: {}, to: inBucket() });
    expect(await keys(project)).toHaveLength(1);
    expect(await look(fresh, project, withBucket())).toMatchObject({ isFileWhole: true });
  });

  it('takes back what it brought there when it fails, and nothing else', async () => {
    // Nothing can be put in place below a link that leads nowhere.
    symlinkSync(join(root.path, 'nowhere', 'else'), join(fresh, 'projects'));
    const project = await seed(old);
    copyFileSync(join(old, 'master.key'), join(fresh, 'master.key'));
    await operator(['export', SLUG, folder, '--data', old]);
    const fail = async (): Promise<void> => {
      const { code, err } = await operator(['import', folder, '--data', fresh], inBucket());
      expect([code, err]).toEqual([1, expect.stringContaining('Importing: 1 of 1 blob')]);
    };
    await fail();
    expect(await keys(project)).toEqual([]);
    // The old gateway may have the same bucket.
    const client = new S3Client(swift.place);
    const own = `projects/${project.id}/blobs/${hash('sha256', CONTENT)}`;
    await client.put(own, CONTENT, hash('sha256', CONTENT));
    client.close();
    await fail();
    expect(await keys(project)).toEqual([own]);
  });
});
