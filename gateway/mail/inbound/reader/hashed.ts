import { hash } from 'node:crypto';
import type { HashedBytes, MailPayload } from '../read-mail.ts';

export function hashed(bytes: Uint8Array): HashedBytes {
  return { bytes, sha256: hash('sha256', bytes) };
}

/** A payload with its stored form. */
export function written(payload: MailPayload): {
  readonly payload: MailPayload;
  readonly payload_json: HashedBytes;
} {
  return { payload, payload_json: hashed(new TextEncoder().encode(JSON.stringify(payload))) };
}
