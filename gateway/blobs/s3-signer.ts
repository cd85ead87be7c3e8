import { hash } from 'node:crypto';
import { AwsV4Signer } from 'aws4fetch';
import type { S3Config } from './blobs-config.ts';

/** The longest time that Signature Version 4 allows. */
const EXPIRES_MAX_SECONDS = 604_800;

/** For a body whose checksum isn't known before it's sent. */
export const UNSIGNED = 'UNSIGNED-PAYLOAD';
/** The checksum of an empty body. */
export const NO_BODY = hash('sha256', '');

type S3Method = 'DELETE' | 'GET' | 'HEAD' | 'PUT';

/** A request to a bucket. */
export interface S3Call {
  readonly method: S3Method;
  /** Empty for the bucket itself. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Signs for one bucket, with the machine's time, which the other side compares with its own. */
export class S3Signer {
  readonly #config: S3Config;
  /** The signing key of a day, derived once. */
  readonly #keys = new Map<string, ArrayBuffer>();

  constructor(config: S3Config) {
    this.#config = config;
  }

  /** The headers to send. `payload` is the SHA-256 of the body in hex, which the bucket checks, or UNSIGNED. */
  async sign(
    call: S3Call,
    payload: string,
  ): Promise<{ readonly address: string; readonly headers: Record<string, string> }> {
    const headers = { ...call.headers, 'x-amz-content-sha256': payload };
    const signer = new AwsV4Signer({ ...this.#parts(call), headers });
    const signed = await signer.sign();
    return { address: addressOf(signer), headers: Object.fromEntries(signed.headers) };
  }

  /** A URL that works for a while without a key, for exactly this method, path, query and these headers. */
  async presign(call: S3Call, expiresInSeconds: number): Promise<string> {
    if (!(expiresInSeconds >= 1 && expiresInSeconds <= EXPIRES_MAX_SECONDS)) {
      throw new RangeError('A signed address must be valid for 1 second to 1 week.');
    }
    const expires = String(Math.floor(expiresInSeconds));
    const query = { ...call.query, 'X-Amz-Expires': expires };
    const signer = new AwsV4Signer({
      ...this.#parts({ ...call, query }),
      headers: { ...call.headers },
      signQuery: true,
      // Include the body's type and length; otherwise they could be anything.
      allHeaders: true,
    });
    return `${addressOf(signer)}&X-Amz-Signature=${await signer.signature()}`;
  }

  #parts({ method, key, query = {} }: S3Call): ConstructorParameters<typeof AwsV4Signer>[0] {
    const { bucket, endpoint, region, pathStyle, credentials } = this.#config;
    const origin = pathStyle
      ? `${endpoint.origin}/${bucket}`
      : `${endpoint.protocol}//${bucket}.${endpoint.host}`;
    const search = new URLSearchParams(query).toString();
    const url = `${origin}/${key}${search && `?${search}`}`;
    return { method, url, service: 's3', region, cache: this.#keys, ...credentials };
  }
}

/** Encodes the query as it was signed: a URL would write blanks as `+`, which not every store decodes as blanks. */
function addressOf({ url, encodedPath, encodedSearch }: AwsV4Signer): string {
  return `${url.origin}${encodedPath}${encodedSearch && `?${encodedSearch}`}`;
}
