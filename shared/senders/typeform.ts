import { hex, isoSeconds } from '../lib/samples/fresh.ts';
import type { Sender } from './sender.ts';

/** https://www.typeform.com/developers/webhooks/secure-your-webhooks/ */
export const typeform: Sender<'typeform'> = {
  name: 'typeform',
  title: 'Typeform',
  words: 'form survey answer',
  proof: {
    kind: 'mac',
    hash: 'sha256',
    encoding: 'base64',
    signature: ['header:typeform-signature'],
    prefix: 'sha256=',
    content: '{body}',
  },
  secretBy: 'svc',
  secretName: 'Secret',
  id: ['body:event_id'],
  type: ['body:event_type'],
  steps: [
    'Open the form, then Connect → Webhooks → Add a webhook.',
    'Endpoint: {url}',
    'Edit it. Secret: {secret}',
    'Save the changes and turn the webhook on.',
  ],
  sample: {
    summary: 'Somebody answers a form.',
    build: () => ({
      headers: { 'content-type': 'application/json', 'user-agent': 'Typeform Webhooks' },
      payload: {
        event_id: hex(26).toUpperCase(),
        event_type: 'form_response',
        form_response: {
          form_id: 'tideForm',
          token: hex(32),
          submitted_at: isoSeconds(),
          answers: [
            {
              type: 'text',
              text: 'Please add the harbour of Porto.',
              field: { id: hex(12), type: 'short_text', ref: 'wish' },
            },
          ],
        },
      },
    }),
  },
};
