import { hash } from 'node:crypto';
import type { Context } from 'hono';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { once } from '../lib/once.ts';
import { reply, type HttpEnv } from './http.ts';
import { isKnown } from './version-headers.ts';

const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
const ENCODINGS = ['br', 'gzip'] as const;
type Encoding = (typeof ENCODINGS)[number] | 'identity';

type Content = string | Uint8Array;

interface Variant {
  readonly bytes: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

/** A document that's the same for everybody: made and compressed once, then sent as it is. */
export class ReadyDocument {
  readonly #variants: () => Promise<Readonly<Record<Encoding, Variant>>>;

  constructor(make: () => Content | Promise<Content>, headers: Readonly<Record<string, string>>) {
    this.#variants = once(async () => variantsOf(await make(), headers));
  }

  /** 304 if the caller has it already. */
  async answer(c: Context<HttpEnv>): Promise<Response> {
    const variants = await this.#variants();
    const { bytes, headers } = variants[wantedEncoding(c.req.header('accept-encoding') ?? '')];
    const isUnchanged = isKnown(headers['ETag'] ?? '', c.env.incoming.headers);
    return isUnchanged ? reply(c, null, 304, headers) : reply(c, bytes, 200, headers);
  }
}

async function variantsOf(
  content: Content,
  headers: Readonly<Record<string, string>>,
): Promise<Record<Encoding, Variant>> {
  const identity = Buffer.from(content);
  const [br, gzipped] = await Promise.all([
    promisify(brotliCompress)(identity, BROTLI),
    promisify(gzip)(identity),
  ]);
  const name = hash('sha256', identity, 'base64url').slice(0, 22);
  const variant = (bytes: Uint8Array, encoding: Encoding): Variant => ({
    bytes,
    headers: {
      ...headers,
      // Another encoding is another sequence of bytes, so it has another tag.
      ETag: `"${name}${encoding === 'identity' ? '' : `-${encoding}`}"`,
      Vary: 'Accept-Encoding',
      ...(encoding !== 'identity' && { 'Content-Encoding': encoding }),
    },
  });
  return {
    identity: variant(identity, 'identity'),
    br: variant(br, 'br'),
    gzip: variant(gzipped, 'gzip'),
  };
}

/** The first of our encodings that the header allows. */
function wantedEncoding(header: string): Encoding {
  const allowed = new Map(
    header.split(',').map((part) => {
      const [name = '', ...parameters] = part.split(';').map((one) => one.trim().toLowerCase());
      return [name, !parameters.some((one) => /^q=0(?:\.0*)?$/.test(one))];
    }),
  );
  return ENCODINGS.find((encoding) => allowed.get(encoding) ?? allowed.get('*')) ?? 'identity';
}
