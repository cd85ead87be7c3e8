import { createHash, createHmac, generateKeyPairSync, sign as signWith } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { selfSigned } from '../../helpers/certificate.ts';

/** A delivery as a sender's documentation says it's made. */
export interface Made {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Draft {
  readonly secret: string;
  readonly body: string;
  readonly at: number;
  readonly url: string;
}

export interface SenderSigner {
  readonly verification: string;
  readonly secret: string;
  /** A secret of the same form that the source doesn't have. */
  readonly other: string;
  readonly type: string;
  readonly sign: (draft: Draft) => Made;
  /** How old a signature may be, if it has a time. */
  readonly toleranceSeconds?: number;
  readonly isSigned?: false;
  /** Changes something that the sender signs. */
  readonly flip?: (body: string) => string;
}

const mac = (hash: string, secret: string | Buffer, text: string) =>
  createHmac(hash, secret).update(text);
const hex = (secret: string, text: string, hash = 'sha256') =>
  mac(hash, secret, text).digest('hex');
const base64 = (secret: string | Buffer, text: string, hash = 'sha256') =>
  mac(hash, secret, text).digest('base64');
const seconds = (at: number) => String(Math.floor(at / 1000));

/** A sender that signs only the body, in one header. */
function inHeader(
  verification: string,
  type: string,
  header: string,
  made: (secret: string, body: string) => string,
): SenderSigner {
  const sign = ({ secret, body }: Draft): Made => ({
    headers: { [header]: made(secret, body) },
    body,
  });
  return {
    verification,
    type,
    secret: `the secret of ${verification}`,
    other: 'another one',
    sign,
  };
}

const publicOf = (pair: ReturnType<typeof keys>) =>
  pair.publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
const keys = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const sendgridKeys = [keys(), keys()] as const;

/** The certificate of the fixture, and who signs with its key. */
export const paypalCertificate = selfSigned('messageverificationcerts.example.com');

const adyenKeys = ['1'.repeat(64), '2'.repeat(64)] as const;

function adyen({ secret, body }: Draft): Made {
  const whole = JSON.parse(body) as {
    notificationItems: {
      NotificationRequestItem: Record<string, string> & {
        amount: { value: number; currency: string };
        additionalData: { hmacSignature: string };
      };
    }[];
  };
  for (const { NotificationRequestItem: item } of whole.notificationItems) {
    const { amount } = item;
    const text = [
      item['pspReference'],
      item['originalReference'] ?? '',
      item['merchantAccountCode'],
      item['merchantReference'],
      amount.value,
      amount.currency,
      item['eventCode'],
      item['success'],
    ].join(':');
    item.additionalData.hmacSignature = base64(Buffer.from(secret, 'hex'), text);
  }
  return { headers: {}, body: JSON.stringify(whole) };
}

function twilio({ secret, body, url }: Draft): Made {
  const fields = [...new URLSearchParams(body)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const text = url + fields.flat().join('');
  return { headers: { 'x-twilio-signature': base64(secret, text, 'sha1') }, body };
}

function mailgun({ secret, body, at }: Draft): Made {
  const whole = JSON.parse(body) as { signature: Record<string, string> };
  whole.signature['timestamp'] = seconds(at);
  whole.signature['signature'] = hex(secret, seconds(at) + whole.signature['token']);
  return { headers: {}, body: JSON.stringify(whole) };
}

function paypal({ secret, body, at }: Draft): Made {
  const id = createHash('sha256').update(body).digest('hex').slice(0, 32);
  const time = new Date(at).toISOString();
  const text = `${id}|${time}|${secret}|${crc32(body)}`;
  return {
    headers: {
      'paypal-transmission-id': id,
      'paypal-transmission-time': time,
      'paypal-cert-url':
        'https://api.sandbox.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594',
      'paypal-transmission-sig': signWith(
        'sha256',
        Buffer.from(text),
        paypalCertificate.key,
      ).toString('base64'),
    },
    body,
  };
}

/** Every declared sender with a secret, signed as its documentation says, and not by our code. */
export const SENDER_SIGNERS: readonly SenderSigner[] = [
  {
    verification: 'slack',
    type: 'app_mention',
    secret: 'slack secret',
    other: 'another one',
    toleranceSeconds: 300,
    sign: ({ secret, body, at }) => ({
      headers: {
        'x-slack-request-timestamp': seconds(at),
        'x-slack-signature': `v0=${hex(secret, `v0:${seconds(at)}:${body}`)}`,
      },
      body,
    }),
  },
  {
    verification: 'gitlab',
    type: 'merge_request.open',
    secret: 'gitlab token',
    other: 'another one',
    isSigned: false,
    sign: ({ secret, body }) => ({ headers: { 'x-gitlab-token': secret }, body }),
  },
  inHeader(
    'bitbucket',
    'repo:push',
    'x-hub-signature',
    (secret, body) => `sha256=${hex(secret, body)}`,
  ),
  {
    verification: 'linear',
    type: 'Issue.create',
    secret: 'linear secret',
    other: 'another one',
    toleranceSeconds: 60,
    sign: ({ secret, body, at }) => {
      const sent = body.replace(/"webhookTimestamp":\d+/, `"webhookTimestamp":${at}`);
      return { headers: { 'linear-signature': hex(secret, sent) }, body: sent };
    },
  },
  inHeader('shopify', 'orders/create', 'x-shopify-hmac-sha256', base64),
  {
    verification: 'twilio',
    type: 'received',
    secret: 'auth token',
    other: 'another one',
    sign: twilio,
  },
  {
    verification: 'sendgrid',
    type: 'delivered',
    secret: publicOf(sendgridKeys[0]),
    other: publicOf(sendgridKeys[1]),
    sign: ({ secret, body, at }) => {
      const pair = sendgridKeys.find((one) => publicOf(one) === secret) ?? sendgridKeys[0];
      const signature = signWith('sha256', Buffer.from(seconds(at) + body), pair.privateKey);
      return {
        headers: {
          'x-twilio-email-event-webhook-timestamp': seconds(at),
          'x-twilio-email-event-webhook-signature': signature.toString('base64'),
        },
        body,
      };
    },
  },
  {
    verification: 'postmark',
    type: 'Bounce',
    secret: 'a password',
    other: 'another one',
    isSigned: false,
    sign: ({ secret, body }) => ({
      headers: { authorization: `Basic ${Buffer.from(`hooks:${secret}`).toString('base64')}` },
      body,
    }),
  },
  {
    verification: 'mailgun',
    type: 'delivered',
    secret: 'mailgun key',
    other: 'another one',
    toleranceSeconds: 12 * 3600,
    sign: mailgun,
    flip: (body) =>
      body.replace(/"token":"(.)/, (_, first: string) => `"token":"${first === '0' ? '1' : '0'}`),
  },
  inHeader('sentry', 'issue.created', 'sentry-hook-signature', hex),
  inHeader(
    'pagerduty',
    'incident.triggered',
    'x-pagerduty-signature',
    (secret, body) => `v1=${'0'.repeat(64)},v1=${hex(secret, body)}`,
  ),
  {
    verification: 'zendesk',
    type: 'zen:event-type:ticket.created',
    secret: 'dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmdfb25seQ==',
    other: 'another one',
    toleranceSeconds: 300,
    sign: ({ secret, body, at }) => {
      const time = new Date(at).toISOString().replace(/\.\d+Z/, 'Z');
      return {
        headers: {
          'x-zendesk-webhook-signature-timestamp': time,
          'x-zendesk-webhook-signature': base64(secret, time + body),
        },
        body,
      };
    },
  },
  inHeader(
    'intercom',
    'conversation.user.created',
    'x-hub-signature',
    (secret, body) => `sha1=${hex(secret, body, 'sha1')}`,
  ),
  {
    verification: 'square',
    type: 'payment.created',
    secret: 'square key',
    other: 'another one',
    sign: ({ secret, body, url }) => ({
      headers: { 'x-square-hmacsha256-signature': base64(secret, url + body) },
      body,
    }),
  },
  {
    verification: 'paypal',
    type: 'PAYMENT.CAPTURE.COMPLETED',
    secret: 'WH-1',
    other: 'WH-2',
    sign: paypal,
  },
  {
    verification: 'adyen',
    type: 'AUTHORISATION',
    secret: adyenKeys[0],
    other: adyenKeys[1],
    sign: adyen,
    flip: (body) => body.replace('"value":4900', '"value":9900'),
  },
  inHeader('docusign', 'envelope-completed', 'x-docusign-signature-1', base64),
  {
    verification: 'hubspot',
    type: 'contact.creation',
    secret: 'hubspot secret',
    other: 'another one',
    toleranceSeconds: 300,
    sign: ({ secret, body, at, url }) => ({
      headers: {
        'x-hubspot-request-timestamp': String(at),
        'x-hubspot-signature-v3': base64(secret, `POST${url}${body}${at}`),
      },
      body,
    }),
  },
  inHeader(
    'typeform',
    'form_response',
    'typeform-signature',
    (secret, body) => `sha256=${base64(secret, body)}`,
  ),
  {
    verification: 'zoom',
    type: 'meeting.started',
    secret: 'zoom token',
    other: 'another one',
    toleranceSeconds: 300,
    sign: ({ secret, body, at }) => ({
      headers: {
        'x-zm-request-timestamp': seconds(at),
        'x-zm-signature': `v0=${hex(secret, `v0:${seconds(at)}:${body}`)}`,
      },
      body,
    }),
  },
  {
    verification: 'microsoft_graph',
    type: 'created',
    secret: 'a client state',
    other: 'another one',
    isSigned: false,
    sign: ({ secret, body }) => ({
      headers: {},
      body: body.replace(/"clientState":"[^"]*"/, `"clientState":"${secret}"`),
    }),
  },
  inHeader(
    'meta',
    'whatsapp_business_account.messages',
    'x-hub-signature-256',
    (secret, body) => `sha256=${hex(secret, body)}`,
  ),
  inHeader('asana', 'task.added', 'x-hook-signature', hex),
  {
    verification: 'okta',
    type: 'user.session.start',
    secret: 'okta secret',
    other: 'another one',
    isSigned: false,
    sign: ({ secret, body }) => ({ headers: { authorization: secret }, body }),
  },
  inHeader('dropbox', 'webhook.received', 'x-dropbox-signature', hex),
  {
    verification: 'trello',
    type: 'createCard',
    secret: 'trello secret',
    other: 'another one',
    sign: ({ secret, body, url }) => ({
      headers: { 'x-trello-webhook': base64(secret, body + url, 'sha1') },
      body,
    }),
  },
];
