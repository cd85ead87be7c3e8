import { hex, isoSeconds, numericId } from '../lib/samples/fresh.ts';
import type { Sender } from './sender.ts';

/** https://developers.zoom.us/docs/api/webhooks/ */
export const zoom: Sender<'zoom'> = {
  name: 'zoom',
  title: 'Zoom',
  words: 'meeting video',
  proof: {
    kind: 'mac',
    hash: 'sha256',
    encoding: 'hex',
    signature: ['header:x-zm-signature'],
    prefix: 'v0=',
    content: 'v0:{time}:{body}',
    time: { at: 'header:x-zm-request-timestamp', unit: 'seconds', toleranceSeconds: 300 },
  },
  secretBy: 'sender',
  secretName: 'Secret Token',
  id: [],
  type: ['body:event'],
  handshake: {
    method: 'POST',
    challenge: 'body:payload.plainToken',
    when: ['body:event', 'endpoint.url_validation'],
    answer: (challenge, sign) => ({ plainToken: challenge, encryptedToken: sign(challenge) }),
  },
  steps: [
    'In the App Marketplace, open your app, then Access: it shows the secret token. {store}',
    'Under Event Subscriptions, add one. Event notification endpoint URL: {url}',
    'Press Validate, choose the events, and save.',
  ],
  sample: {
    summary: 'A meeting starts.',
    build: () => ({
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'Zoom Marketplace/1.0a',
      },
      payload: {
        event: 'meeting.started',
        event_ts: Date.now(),
        payload: {
          account_id: hex(22),
          object: {
            id: String(numericId()),
            topic: 'Tides and harbours',
            start_time: isoSeconds(),
          },
        },
      },
    }),
  },
};
