import { describe, expect, it } from 'vitest';
import { BlobsConfigError, readBlobsConfig } from '../../../gateway/blobs/blobs-config.ts';

const keys = { AWS_ACCESS_KEY_ID: 'id-1', AWS_SECRET_ACCESS_KEY: 'secret-1' };
const credentials = { accessKeyId: 'id-1', secretAccessKey: 'secret-1' };
const ENDPOINT = 'endpoint=https://s3.example.com:9000';

function problemsOf(SVC_BLOBS: string, env: Record<string, string> = keys): readonly string[] {
  try {
    readBlobsConfig({ ...env, SVC_BLOBS });
  } catch (error) {
    if (error instanceof BlobsConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('where blobs are kept', () => {
  it('is the folders of the projects by default', () => {
    for (const env of [{}, { SVC_BLOBS: '' }, { SVC_BLOBS: 'file:' }]) {
      expect(readBlobsConfig(env)).toEqual({ kind: 'file' });
    }
  });

  it('may be a folder that the gateways of one store see', () => {
    const env = { SVC_DATABASE_URL: 'http://127.0.0.1:8080/{project}/' };
    const folderOf = (SVC_BLOBS: string) => readBlobsConfig({ ...env, SVC_BLOBS });
    expect(folderOf('file:/srv/svc blobs')).toEqual({ kind: 'file', folder: '/srv/svc blobs' });
    expect(folderOf('file:/srv/../mnt/a%2Fb/')).toEqual({ kind: 'file', folder: '/mnt/a%2Fb' });
  });

  it('may be a bucket', () => {
    const SVC_BLOBS = `s3://my.bucket?${ENDPOINT}&region=eu-1&path_style=true`;
    expect(readBlobsConfig({ ...keys, SVC_BLOBS })).toEqual({
      kind: 's3',
      bucket: 'my.bucket',
      endpoint: new URL('https://s3.example.com:9000'),
      region: 'eu-1',
      pathStyle: true,
      credentials,
    });
  });

  it('has defaults for Amazon and for others', () => {
    const env = { ...keys, AWS_SESSION_TOKEN: 'token-1' };
    expect(readBlobsConfig({ ...env, SVC_BLOBS: 's3://bucket?region=eu-central-1' })).toMatchObject(
      {
        endpoint: new URL('https://s3.eu-central-1.amazonaws.com'),
        pathStyle: false,
        credentials: { ...credentials, sessionToken: 'token-1' },
      },
    );
    expect(readBlobsConfig({ ...keys, SVC_BLOBS: `s3://bucket?${ENDPOINT}` })).toMatchObject({
      region: 'us-east-1',
      pathStyle: true,
      credentials,
    });
  });
});

describe('what is wrong with it', () => {
  it('is told all at once', () => {
    const text =
      's3://user:hidden@A?endpoint=ftp://hidden&region=HIDDEN&path_style=hidden&hidden=1';
    const problems = problemsOf(text, {});
    expect(problems).toHaveLength(8);
    expect(problems.join('\n')).not.toMatch(/hidden/i);
  });

  it.each([
    'file:somewhere',
    'file:./somewhere',
    'file://host/somewhere',
    // For gateways that share a store, and no store is named.
    'file:/somewhere',
    'http://bucket',
    's3:bucket',
    `s3://?${ENDPOINT}`,
    `s3://bucket/folder?${ENDPOINT}`,
    `s3://bucket:80?${ENDPOINT}`,
    `s3://bucket?${ENDPOINT}#more`,
    `s3://bucket?${ENDPOINT}/path`,
    `s3://bucket?${ENDPOINT}&${ENDPOINT}`,
    's3://bucket',
    `s3://my.bucket?${ENDPOINT}&path_style=false`,
  ])('%s', (text) => {
    expect(problemsOf(text)).toHaveLength(1);
  });

  it('may be a credential, which is not shown', () => {
    const problems = problemsOf(`s3://bucket?${ENDPOINT}`, {
      AWS_ACCESS_KEY_ID: 'hidden\n',
      AWS_SECRET_ACCESS_KEY: '',
      AWS_SESSION_TOKEN: 'hid den',
    });
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
      'AWS_ACCESS_KEY_ID',
      'AWS_SECRET_ACCESS_KEY',
      'AWS_SESSION_TOKEN',
    ]);
    expect(problems.join('\n')).not.toContain('hid');
  });
});
