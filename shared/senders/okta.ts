import { isoSeconds, uuid } from '../lib/samples/fresh.ts';
import type { Sender } from './sender.ts';

/** https://developer.okta.com/docs/concepts/event-hooks/ */
export const okta: Sender<'okta'> = {
  name: 'okta',
  title: 'Okta',
  words: 'identity sign-in user login',
  proof: { kind: 'shared_secret', at: 'header:authorization', form: 'plain' },
  secretBy: 'svc',
  secretName: 'Authentication secret',
  id: ['body:eventId'],
  type: ['body:data.events.*.eventType'],
  handshake: {
    method: 'GET',
    challenge: 'header:x-okta-verification-challenge',
    answer: (challenge) => ({ verification: challenge }),
  },
  steps: [
    'In the Admin Console, open Workflow → Event Hooks → Create Event Hook.',
    'URL: {url}',
    'Authentication field: Authorization. Authentication secret: {secret}',
    'Subscribe to events, save, and press Verify.',
  ],
  sample: {
    summary: 'A user signs in.',
    build: () => ({
      headers: { 'content-type': 'application/json', 'user-agent': 'Okta-Integrations' },
      payload: {
        eventType: 'com.okta.event_hook',
        eventTypeVersion: '1.0',
        cloudEventsVersion: '0.1',
        eventId: uuid(),
        eventTime: isoSeconds(),
        source: 'https://harbor-lane.okta.com/api/v1/eventHooks/who20418',
        data: {
          events: [
            {
              uuid: uuid(),
              published: isoSeconds(),
              eventType: 'user.session.start',
              displayMessage: 'User login to Okta',
              severity: 'INFO',
              outcome: { result: 'SUCCESS' },
            },
          ],
        },
      },
    }),
  },
};
