import { hex, unixSeconds } from '../lib/samples/fresh.ts';
import type { Sender } from './sender.ts';

/** https://docs.slack.dev/authentication/verifying-requests-from-slack */
export const slack: Sender<'slack'> = {
  name: 'slack',
  title: 'Slack',
  words: 'chat bot slash command interactivity',
  proof: {
    kind: 'mac',
    hash: 'sha256',
    encoding: 'hex',
    signature: ['header:x-slack-signature'],
    prefix: 'v0=',
    content: 'v0:{time}:{body}',
    time: { at: 'header:x-slack-request-timestamp', unit: 'seconds', toleranceSeconds: 300 },
  },
  secretBy: 'sender',
  secretName: 'Signing Secret',
  id: ['body:event_id', 'body:trigger_id'],
  type: ['body:event.type', 'body:command', 'body:type'],
  handshake: {
    method: 'POST',
    challenge: 'body:challenge',
    when: ['body:type', 'url_verification'],
    answer: 'text',
  },
  // Slack shows people what a command answers.
  answer: { type: 'text/plain', body: '' },
  steps: [
    'At api.slack.com/apps, open your app, then Basic Information → App Credentials. {store}',
    'Open Event Subscriptions, turn it on, and paste this Request URL: {url}',
    'Slack checks the URL at once. Subscribe to bot events and save.',
  ],
  sample: {
    summary: 'Somebody mentions the app in a channel.',
    build: () => ({
      headers: { 'content-type': 'application/json', 'user-agent': 'Slackbot 1.0' },
      payload: {
        team_id: 'T04HARBOR1',
        api_app_id: 'A04TIDES01',
        type: 'event_callback',
        event_id: `Ev${hex(10).toUpperCase()}`,
        event_time: unixSeconds(),
        event: {
          type: 'app_mention',
          user: 'U04MIRA001',
          text: '<@U04TIDEBOT> when is high water on Sunday?',
          ts: `${unixSeconds()}.000200`,
          channel: 'C04HARBOR1',
        },
      },
    }),
  },
};
