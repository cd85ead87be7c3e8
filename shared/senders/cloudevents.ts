import { isoSeconds, uuid } from '../lib/samples/fresh.ts';
import type { Sender } from './sender.ts';

/** https://github.com/cloudevents/spec, over HTTP: a form that any sender may use, with no signature of its own. */
export const cloudevents: Sender<'cloudevents'> = {
  name: 'cloudevents',
  title: 'CloudEvents',
  words: 'knative azure event grid eventarc',
  proof: { kind: 'none' },
  secretBy: null,
  // An id is unique for its source.
  id: [
    ['header:ce-id', 'header:ce-source'],
    ['body:id', 'body:source'],
    ['body:*.id', 'body:*.source'],
  ],
  type: ['header:ce-type', 'body:type', 'body:*.type'],
  handshake: {
    method: 'OPTIONS',
    challenge: 'header:webhook-request-origin',
    answer: 'header:webhook-allowed-origin',
    headers: { 'webhook-allowed-rate': '*' },
  },
  steps: [
    'Add an HTTP endpoint (a sink, or a web hook) with this URL: {url}',
    'Keep the URL secret: CloudEvents are not signed, so svc marks them as not verified.',
  ],
  sample: {
    summary: 'An event of another program, with its data in the body.',
    build: () => ({
      headers: {
        'content-type': 'application/json',
        'ce-specversion': '1.0',
        'ce-id': uuid(),
        'ce-source': '/harbours/porto',
        'ce-type': 'com.example.tide.measured',
        'ce-time': isoSeconds(),
      },
      payload: { harbour: 'porto', height_cm: 214 },
    }),
  },
};
