import { isoSeconds, uuid } from '../lib/samples/fresh.ts';
import type { Place, Sender } from './sender.ts';

/** An account has as many keys, and signs with each. */
const KEYS_MAX = 100;

const signatureAt = (number: number): Place => `header:x-docusign-signature-${number}`;

/** https://developers.docusign.com/platform/webhooks/connect/validate/ */
export const docusign: Sender<'docusign'> = {
  name: 'docusign',
  title: 'DocuSign',
  words: 'envelope signing contract',
  proof: {
    kind: 'mac',
    hash: 'sha256',
    encoding: 'base64',
    signature: Array.from({ length: KEYS_MAX }, (_, at) => signatureAt(at + 1)),
    content: '{body}',
  },
  secretBy: 'sender',
  secretName: 'Connect HMAC key',
  id: [['body:data.envelopeId', 'body:event', 'body:data.recipientId', 'body:generatedDateTime']],
  type: ['body:event'],
  steps: [
    'Open Settings → Connect → Connect Keys, and add a secret key. {store}',
    'Under Connect → Configurations, add a custom configuration. URL to publish: {url}',
    'Data format: REST v2.1 (JSON). Include the HMAC signature, choose the events, and save.',
  ],
  sample: {
    summary: 'Everybody has signed an envelope.',
    build: () => ({
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'DocuSign Connect',
      },
      payload: {
        event: 'envelope-completed',
        apiVersion: 'v2.1',
        retryCount: 0,
        configurationId: 20418,
        generatedDateTime: isoSeconds(),
        data: { accountId: uuid(), userId: uuid(), envelopeId: uuid() },
      },
    }),
  },
};
