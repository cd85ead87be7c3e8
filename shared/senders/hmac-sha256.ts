import type { Sender } from './sender.ts';

/** Any sender that signs the body: in the header that the source names, with or without `sha256=` before it. */
export const hmacSha256: Sender<'hmac_sha256'> = {
  name: 'hmac_sha256',
  title: 'HMAC-SHA256',
  words: 'other own sender shared secret',
  proof: {
    kind: 'mac',
    hash: 'sha256',
    encoding: 'hex_or_base64',
    signature: ['header:x-signature'],
    content: '{body}',
  },
  secretBy: 'svc',
  id: 'any',
  type: [],
  steps: [
    'It sends a POST request to this URL: {url}',
    'It signs the raw body with HMAC-SHA256 and the secret {secret}, and puts the signature, in hex or base64, in the header {header}.',
  ],
  sample: null,
};
