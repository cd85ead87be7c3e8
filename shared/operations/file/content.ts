import * as z from 'zod';
import { isBytes, lengthOf, sha256Of, type Bytes } from '../../lib/bytes.ts';
import { ServiceError } from '../../lib/errors.ts';
import { FILE_INLINE_MAX_BYTES } from '../../lib/limits.ts';

/** The content of a small file. `bytes` is null once they are stored. */
export interface FileContent {
  readonly bytes: Bytes | null;
  readonly sha256: string;
  readonly sizeBytes: number;
}

const BASE64_CHARS_MAX = Math.ceil(FILE_INLINE_MAX_BYTES / 3) * 4;

/** Standard base64 with padding, or the bytes themselves if the whole request body is the file. */
export const fileContent = z
  .custom<string | Bytes>(
    (value) => typeof value === 'string' || isBytes(value),
    'Expected base64 text.',
  )
  .meta({
    type: 'string',
    contentEncoding: 'base64',
    description: 'The bytes in standard base64 with `=` padding, up to 1 MB decoded.',
  })
  .transform((value, context): FileContent => {
    const bytes = typeof value === 'string' ? decoded(value) : value;
    if (bytes === null) {
      context.issues.push({
        code: 'custom',
        input: undefined,
        message: 'Expected standard base64 with `=` padding.',
      });
      return z.NEVER;
    }
    return contentOf(bytes);
  });

/** A text, stored as UTF-8. */
export const textContent = z
  .string()
  .refine((text) => text.isWellFormed(), "The text isn't valid Unicode.")
  .transform((text) => contentOf(Buffer.from(text)))
  .describe('The file as text, up to 1 MB.');

function contentOf(bytes: Bytes): FileContent {
  const sizeBytes = lengthOf(bytes);
  if (sizeBytes > FILE_INLINE_MAX_BYTES) throw tooLarge();
  return { bytes, sha256: sha256Of(bytes), sizeBytes };
}

function decoded(text: string): Uint8Array | null {
  if (text.length > BASE64_CHARS_MAX) throw tooLarge();
  const bytes = Buffer.from(text, 'base64');
  // Node skips characters that it doesn't know, so only a text that encodes back to itself is complete.
  return bytes.toString('base64') === text ? bytes : null;
}

function tooLarge(): ServiceError {
  return new ServiceError('PAYLOAD_TOO_LARGE', {
    hint: 'At most 1 MB this way; use `upload` for up to 100 MB.',
  });
}

/** A media type, stored as given and sent again with the file. */
export const contentType = z
  .string()
  .min(1, { abort: true })
  .max(255, { abort: true })
  .regex(/^[\x21-\x7e][\x20-\x7e]*$/, 'Expected a media type such as `text/plain; charset=utf-8`.');
