import type { Sender } from './sender.ts';

/** Takes deliveries of anybody who knows the address. */
export const none: Sender<'none'> = {
  name: 'none',
  title: 'Not signed',
  words: 'other any',
  proof: { kind: 'none' },
  secretBy: null,
  id: 'any',
  type: [],
  steps: [
    'It sends a POST request to this URL: {url}',
    'Keep the URL secret: anyone who knows it can send events, and svc marks them as not verified. If the sender signs its requests, add a source that checks signatures instead.',
  ],
  sample: null,
};
