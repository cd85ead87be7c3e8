import { isAbsolute, resolve } from 'node:path';
import { parsedUrl } from '../../shared/lib/urls.ts';

/** Credentials for a bucket. Never part of a message. */
interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** A bucket and how to reach it. */
export interface S3Config {
  readonly kind: 's3';
  readonly bucket: string;
  /** Only scheme, host and port. */
  readonly endpoint: URL;
  readonly region: string;
  /** Puts the bucket's name into the path of a URL instead of the host name. */
  readonly pathStyle: boolean;
  readonly credentials: S3Credentials;
}

/** Where blobs are stored: in the projects' folders, in a folder that gateways share, or in a bucket. */
export type BlobsConfig = { readonly kind: 'file'; readonly folder?: string } | S3Config;

/** All problems of the settings at once. It names settings but shows no values, because one may be a secret. */
export class BlobsConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join(' '));
    this.name = 'BlobsConfigError';
    this.problems = problems;
  }
}

const OPTIONS = ['endpoint', 'region', 'path_style'];
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const REGION = /^[a-z0-9][a-z0-9-]{0,62}$/;
/** Stores other than Amazon's accept this if they have no regions. */
const REGION_DEFAULT = 'us-east-1';
/** It's sent unchanged in a header. */
const VISIBLE = /^[\x21-\x7e]+$/;

type Complain = (problem: string) => void;

/**
 * Reads SVC_BLOBS: `file:` (the default), `file:/absolute/folder`, or `s3://bucket?endpoint=https://…&region=…&path_style=true|false`.
 * The default endpoint is Amazon's for the region; path_style defaults to true with an endpoint and false without. The
 * credentials are AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, optionally, AWS_SESSION_TOKEN.
 */
export function readBlobsConfig(env: Readonly<Record<string, string | undefined>>): BlobsConfig {
  const text = env['SVC_BLOBS'] || 'file:';
  if (text === 'file:') return { kind: 'file' };
  if (text.startsWith('file:')) return readFolder(text.slice('file:'.length), env);
  const problems: string[] = [];
  const complain: Complain = (problem) => problems.push(problem);
  const bucket = readBucket(text, complain);
  const credentials = text.startsWith('s3:') ? readCredentials(env, complain) : null;
  if (!bucket || !credentials || problems.length > 0) throw new BlobsConfigError(problems);
  return { ...bucket, credentials };
}

/** A path as written, not a URL: nothing is decoded, and it has no host. */
function readFolder(
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
): BlobsConfig {
  if (!isAbsolute(folder) || folder.startsWith('//')) {
    throw new BlobsConfigError(['SVC_BLOBS: write an absolute folder after `file:`, or nothing.']);
  }
  // A data folder with its own databases is backed up and restored as a whole.
  if (!env['SVC_DATABASE_URL']) {
    throw new BlobsConfigError([
      'SVC_BLOBS: a folder is only for gateways that share SVC_DATABASE_URL. Without that, leave SVC_BLOBS out; files go into SVC_DATA.',
    ]);
  }
  return { kind: 'file', folder: resolve(folder) };
}

function readBucket(text: string, complain: Complain): Omit<S3Config, 'credentials'> | null {
  const url = text.startsWith('s3://') ? parsedUrl(text) : null;
  if (!url) {
    complain(
      'SVC_BLOBS must be `file:`, `file:/absolute/folder` or `s3://bucket?endpoint=…&region=…&path_style=…`.',
    );
    return null;
  }
  refuseUnknown(url, complain);
  const bucket = url.hostname;
  if (!BUCKET.test(bucket)) complain("SVC_BLOBS: S3 doesn't allow this bucket name.");
  const region = readRegion(url.searchParams, complain);
  const endpoint = readEndpoint(url.searchParams, region, complain);
  const pathStyle = readFlag(url.searchParams, complain);
  if (!pathStyle && bucket.includes('.') && endpoint?.protocol === 'https:') {
    complain('SVC_BLOBS: a bucket name with a dot needs path_style=true over https.');
  }
  return endpoint && { kind: 's3', bucket, endpoint, region, pathStyle };
}

function refuseUnknown(url: URL, complain: Complain): void {
  const names = [...url.searchParams.keys()];
  if (names.some((name) => !OPTIONS.includes(name))) {
    complain(`SVC_BLOBS only takes the options ${OPTIONS.join(', ')}.`);
  }
  if (new Set(names).size < names.length) complain('SVC_BLOBS has an option twice.');
  if (url.username || url.password) {
    complain(
      'SVC_BLOBS must not contain credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
    );
  }
  if (url.port || url.hash || !['', '/'].includes(url.pathname)) {
    complain('SVC_BLOBS: only options may follow the bucket.');
  }
}

function readRegion(options: URLSearchParams, complain: Complain): string {
  const region = options.get('region');
  if (region === null) {
    if (!options.has('endpoint')) complain('SVC_BLOBS: set a region or an endpoint.');
    return REGION_DEFAULT;
  }
  if (REGION.test(region)) return region;
  complain('SVC_BLOBS: region must be a name such as `eu-central-1`.');
  return REGION_DEFAULT;
}

function readEndpoint(options: URLSearchParams, region: string, complain: Complain): URL | null {
  const text = options.get('endpoint');
  if (text === null) return new URL(`https://s3.${region}.amazonaws.com`);
  const url = parsedUrl(text);
  // It consists of the origin alone.
  if (url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url;
  complain('SVC_BLOBS: endpoint must be an http or https address with only a host and port.');
  return null;
}

function readFlag(options: URLSearchParams, complain: Complain): boolean {
  const text = options.get('path_style');
  if (text === null) return options.has('endpoint');
  if (text !== 'true' && text !== 'false') {
    complain('SVC_BLOBS: path_style must be `true` or `false`.');
  }
  return text === 'true';
}

function readCredentials(
  env: Readonly<Record<string, string | undefined>>,
  complain: Complain,
): S3Credentials {
  const read = (name: string, isNeeded: boolean): string => {
    const value = env[name] ?? '';
    if (value === '' && isNeeded) complain(`${name} isn't set.`);
    if (value !== '' && !VISIBLE.test(value)) {
      complain(`${name} has characters that aren't allowed in a credential.`);
    }
    return value;
  };
  const accessKeyId = read('AWS_ACCESS_KEY_ID', true);
  const secretAccessKey = read('AWS_SECRET_ACCESS_KEY', true);
  const sessionToken = read('AWS_SESSION_TOKEN', false);
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
}
