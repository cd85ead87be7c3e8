import { describe, expect, it } from 'vitest';
import { verifySignature, type ReceivedDelivery } from '../../../shared/rules/payload/signature.ts';
import { sendersFor } from '../../../shared/senders/registry.ts';

const FORM = 'application/x-www-form-urlencoded';
const URL_TOLD = 'https://hooks.example.com/w/abc';

interface Vector extends Pick<ReceivedDelivery, 'verification' | 'headers'> {
  readonly secret: string;
  readonly body: string;
  readonly url?: string;
  readonly at?: number;
}

/** Signatures of the senders' own libraries, and those that they publish. */
const VECTORS: readonly (readonly [string, Vector])[] = [
  [
    'published by Slack',
    {
      verification: 'slack',
      secret: '8f742231b10e8888abcd99yyyzzz85a5',
      at: 1_531_420_618,
      body: 'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
      headers: {
        'x-slack-request-timestamp': '1531420618',
        'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
      },
    },
  ],
  [
    'published by Twilio',
    {
      verification: 'twilio',
      secret: '12345',
      url: 'https://mycompany.com/myapp.php?foo=1&bar=2',
      body: 'Digits=1234&To=%2B18005551212&From=%2B14158675309&Caller=%2B14158675309&CallSid=CA1234567890ABCDE',
      headers: { 'content-type': FORM, 'x-twilio-signature': 'RSOYDt4T1cUTdK1PDd93/VVr8B8=' },
    },
  ],
  [
    'of a form by the library of Twilio',
    {
      verification: 'twilio',
      secret: '12345',
      url: URL_TOLD,
      body: 'CallSid=CA1234567890ABCDE&Caller=%2B14158675310&Digits=1234&From=%2B14158675310&To=%2B18005551212&Body=na%C3%AFve+%26+50%25',
      headers: { 'content-type': FORM, 'x-twilio-signature': 'SsY2osUrfxlb1ok0DkwIIuP0FOs=' },
    },
  ],
  [
    'of JSON by the library of Twilio',
    {
      verification: 'twilio',
      secret: '12345',
      url: `${URL_TOLD}?bodySHA256=0a1ff7634d9ab3b95db5c9a2dfe9416e41502b283a80c7cf19632632f96e6620`,
      body: '{"property": "value", "boolean": true}',
      headers: {
        'content-type': 'application/json',
        'x-twilio-signature': 'AWGGwr6wWZynMpcxa6SYY85GUzU=',
      },
    },
  ],
  [
    'taken by the library of Square',
    {
      verification: 'square',
      secret: 'square key',
      url: URL_TOLD,
      body: '{"property": "value", "boolean": true}',
      headers: {
        'x-square-hmacsha256-signature': 'r0vo8H9/r5doUBwg+52P8qJnpI3K6F794/xjmJMkp1k=',
      },
    },
  ],
  [
    'of the library of Adyen',
    {
      verification: 'adyen',
      secret: 'DFB1EB5485895CFA84146406857104ABB4CBCABDC8AAF103A624C8F6A3EAAB00',
      body: '{"notificationItems":[{"NotificationRequestItem":{"additionalData":{"hmacSignature":"Ny9gS2veKo5E4w8/OL6xz1/wvT/hYkAXy1xNc/QvO4I="},"pspReference":"7914073381342284","originalReference":"","merchantAccountCode":"TestMerchant","merchantReference":"TestPayment-1407325143704","amount":{"value":1130,"currency":"EUR"},"eventCode":"AUTHORISATION","success":"true"}}]}',
      headers: {},
    },
  ],
  [
    'of a reference with a colon, of the library of Adyen',
    {
      verification: 'adyen',
      secret: 'DFB1EB5485895CFA84146406857104ABB4CBCABDC8AAF103A624C8F6A3EAAB00',
      body: '{"notificationItems":[{"NotificationRequestItem":{"additionalData":{"hmacSignature":"8nyQZwWqhKQoVBv0YE+VI7spE6T6ZbUQoVemwdNmHBg="},"pspReference":"7914073381342284","originalReference":"","merchantAccountCode":"TestMerchant","merchantReference":"a:b\\\\c","amount":{"value":1130,"currency":"EUR"},"eventCode":"AUTHORISATION","success":"true"}}]}',
      headers: {},
    },
  ],
  [
    'taken by the library of SendGrid',
    {
      verification: 'sendgrid',
      secret:
        'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEbdAazGrN7jc1sAgWrrYIg0zr70Hgulp2PeqKaluFEbJjiBr4m+S/ut/4/zImNBvybJLtIxeqSTpHqkGYCx0GwA==',
      body: '[{"event":"delivered","sg_event_id":"a"}]\r\n',
      headers: {
        'x-twilio-email-event-webhook-timestamp': '1700000000',
        'x-twilio-email-event-webhook-signature':
          'MEYCIQC+pV5rQe2U/235dpAVKlRUfsGGc0c9Pr8YNCY0qZsmNwIhAP5IGMcyeSbErA4HxJ15dg/d7Nvi3Le7jFYVgmP3Cscs',
      },
    },
  ],
  [
    'taken by the library of Linear',
    {
      verification: 'linear',
      secret: 'linear secret',
      at: 1_700_000_000,
      body: '{"action":"create","type":"Issue","webhookTimestamp":1700000000000}',
      headers: {
        'linear-signature': '1ccffc3ef6ea47149df1fbe64a29dc20b4d9d8caefd3d3930737049be414ee2a',
      },
    },
  ],
];

describe('a signature', () => {
  it.each(VECTORS)('%s', (_, { secret, at = 1_700_000_000, body, headers, ...rest }) => {
    const delivery = { ...rest, headers, body: Buffer.from(body), nowMs: at * 1000 };
    expect(verifySignature({ ...delivery, secrets: ['an older one', secret] })).toBe(true);
    expect(verifySignature({ ...delivery, secrets: ['an older one'] })).toBe(false);
  });

  it('of Standard Webhooks is checked with a secret that begins with its version', () => {
    const secret = 'v1,whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const headers = {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    };
    const body = Buffer.from('{"test": 2432232314}');
    const delivery = { verification: 'standard_webhooks', headers, body } as const;
    const nowMs = 1_614_265_330_000;
    expect(verifySignature({ ...delivery, secrets: [secret], nowMs })).toBe(true);
  });
});

describe('a search for a sender', () => {
  it.each([
    ['slack', 'slack'],
    ['git', 'github, bitbucket, gitlab'],
    ['whatsapp', 'meta, twilio'],
    ['microsoft g', 'microsoft_graph'],
    ['pay pal', ''],
    ['paypal', 'paypal'],
    ['svix', 'standard_webhooks'],
    ['nobody', ''],
  ])('%s finds %s', (text, names) => {
    const found = sendersFor(text).map(({ name }) => name);
    expect(found.toSorted()).toEqual(names.split(', ').filter(Boolean).toSorted());
  });
});
