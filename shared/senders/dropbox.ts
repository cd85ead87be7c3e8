import { numericId } from '../lib/samples/fresh.ts';
import type { Sender } from './sender.ts';

/** https://www.dropbox.com/developers/reference/webhooks */
export const dropbox: Sender<'dropbox'> = {
  name: 'dropbox',
  title: 'Dropbox',
  words: 'file storage',
  proof: {
    kind: 'mac',
    hash: 'sha256',
    encoding: 'hex',
    signature: ['header:x-dropbox-signature'],
    content: '{body}',
  },
  secretBy: 'sender',
  secretName: 'App secret',
  id: [],
  type: [],
  handshake: { method: 'GET', challenge: 'query:challenge', answer: 'text' },
  steps: [
    'In the App Console, open your app. Settings shows the app secret. {store}',
    'Under Webhooks, add this URI: {url}',
    'Dropbox checks it at once, and then says whose files have changed.',
  ],
  sample: {
    summary: 'Somebody’s files have changed.',
    build: () => ({
      headers: { 'content-type': 'application/json', 'user-agent': 'DropboxWebhooks/1.0' },
      payload: {
        list_folder: { accounts: [`dbid:AAH${numericId()}`] },
        delta: { users: [numericId()] },
      },
    }),
  },
};
