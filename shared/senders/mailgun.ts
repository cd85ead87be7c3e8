import { hex, unixSeconds } from '../lib/samples/fresh.ts';
import { textsIn } from './places.ts';
import type { Place, Sender, SignedPart } from './sender.ts';

/** Where this part of the signature is: webhooks have it under `signature`, the forms that routes forward at the top. */
const placesOf = (name: string): [Place, Place] => [`body:signature.${name}`, `body:${name}`];

/**
 * https://documentation.mailgun.com/docs/mailgun/user-manual/events/webhooks. The signature covers only a time and a
 * token, so the token is the delivery's id: whoever sees a signature can't send anything else under it.
 */
export const mailgun: Sender<'mailgun'> = {
  name: 'mailgun',
  title: 'Mailgun',
  words: 'mail email delivery bounce',
  proof: {
    kind: 'mac',
    hash: 'sha256',
    encoding: 'hex',
    signature: placesOf('signature'),
    content: signed,
    // Mailgun repeats a delivery for eight hours.
    time: { at: placesOf('timestamp'), unit: 'seconds', toleranceSeconds: 12 * 3600 },
  },
  secretBy: 'sender',
  secretName: 'HTTP webhook signing key',
  id: placesOf('token'),
  type: ['body:event-data.event', 'body:event'],
  steps: [
    'Open Send → Sending → Webhooks, choose the domain, and add a webhook.',
    'URL: {url}',
    'The same page shows the HTTP webhook signing key. {store}',
  ],
  sample: {
    summary: 'A mail was delivered.',
    build: () => ({
      headers: { 'content-type': 'application/json', 'user-agent': 'mailgun/treq' },
      payload: {
        signature: { timestamp: String(unixSeconds()), token: hex(50), signature: '' },
        'event-data': {
          id: hex(22),
          event: 'delivered',
          timestamp: unixSeconds(),
          recipient: 'ines.ferreira@example.com',
          message: { headers: { 'message-id': `${hex(20)}@example.com` } },
        },
      },
    }),
  },
};

function signed(request: SignedPart): string | null {
  const [time, token] = ['timestamp', 'token'].map(
    (name) => placesOf(name).flatMap((place) => textsIn(place, request))[0],
  );
  return time === undefined || token === undefined ? null : time + token;
}
