import { hex, isoSeconds } from '../lib/samples/fresh.ts';
import type { Sender } from './sender.ts';

/** https://developer.atlassian.com/cloud/trello/guides/rest-api/webhooks/ */
export const trello: Sender<'trello'> = {
  name: 'trello',
  title: 'Trello',
  words: 'board card atlassian',
  proof: {
    kind: 'mac',
    hash: 'sha1',
    encoding: 'base64',
    signature: ['header:x-trello-webhook'],
    content: '{body}{url}',
  },
  secretBy: 'sender',
  secretName: 'API secret',
  id: ['body:action.id'],
  type: ['body:action.type'],
  steps: [
    'At trello.com/power-ups/admin, open your Power-Up, then API key: it shows the secret. {store}',
    'Create a webhook over the API: POST https://api.trello.com/1/webhooks',
    'idModel: the id of a board, a list or a card. callbackURL: {url}',
  ],
  sample: {
    summary: 'A card is created.',
    build: () => ({
      headers: { 'content-type': 'application/json', 'user-agent': 'Faraday v2.0' },
      payload: {
        model: { id: hex(24), name: 'Harbours' },
        action: {
          id: hex(24),
          type: 'createCard',
          date: isoSeconds(),
          data: {
            card: { id: hex(24), name: 'Add the harbour of Porto', shortLink: 'tide214' },
            list: { name: 'To do' },
            board: { name: 'Harbours' },
          },
          memberCreator: { username: 'mira-okafor' },
        },
      },
    }),
  },
};
