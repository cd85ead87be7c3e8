import { isObject } from '../lib/guards.ts';
import { hex, isoSeconds } from '../lib/samples/fresh.ts';
import { textsAt } from './places.ts';
import type { Sender, SignedPart } from './sender.ts';

const FIELDS = [
  'pspReference',
  'originalReference',
  'merchantAccountCode',
  'merchantReference',
  'amount.value',
  'amount.currency',
  'eventCode',
  'success',
];

/** https://docs.adyen.com/development-resources/webhooks/verify-hmac-signatures/. Only these fields are signed. */
export const adyen: Sender<'adyen'> = {
  name: 'adyen',
  title: 'Adyen',
  words: 'payment',
  proof: {
    kind: 'mac',
    hash: 'sha256',
    encoding: 'base64',
    key: 'hex',
    each: 'notificationItems.*.NotificationRequestItem',
    signature: ['body:additionalData.hmacSignature'],
    content: signed,
  },
  secretBy: 'sender',
  secretName: 'HMAC key',
  id: [
    [
      'body:notificationItems.*.NotificationRequestItem.pspReference',
      'body:notificationItems.*.NotificationRequestItem.eventCode',
      'body:notificationItems.*.NotificationRequestItem.success',
    ],
  ],
  type: ['body:notificationItems.*.NotificationRequestItem.eventCode'],
  answer: { type: 'text/plain', body: '[accepted]' },
  steps: [
    'In the Customer Area, open Developers → Webhooks → Create new webhook → Standard webhook.',
    'URL: {url}. Method: JSON.',
    'Under Security, generate an HMAC key and copy it. {store}',
    'Save the changes and test the configuration.',
  ],
  sample: {
    summary: 'A payment is authorised.',
    build: () => ({
      headers: { 'content-type': 'application/json', 'user-agent': 'Adyen HttpClient 1.0' },
      payload: {
        live: 'false',
        notificationItems: [
          {
            NotificationRequestItem: {
              additionalData: { hmacSignature: '' },
              amount: { currency: 'EUR', value: 4900 },
              eventCode: 'AUTHORISATION',
              eventDate: isoSeconds(),
              merchantAccountCode: 'HarborLaneECOM',
              merchantReference: 'order-20418',
              pspReference: hex(16).toUpperCase(),
              success: 'true',
            },
          },
        ],
      },
    }),
  },
};

function signed({ part }: SignedPart): string | null {
  if (!isObject(part)) return null;
  return FIELDS.map((field) => textsAt(part, field)[0] ?? '').join(':');
}
