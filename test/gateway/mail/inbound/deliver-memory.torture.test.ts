import { afterEach, beforeEach, expect, it } from 'vitest';
import { TestSending } from '../outbound/sending.ts';

let mail: TestSending;
let url: string;
beforeEach(async () => {
  mail = await TestSending.start({ source: false });
  await mail.allowAll();
  url = await mail.gateway.addSource({ type: 'email', name: 'mail' });
});
afterEach(() => mail.stop());

const post = (raw: string) => mail.gateway.deliver(url, raw, { 'content-type': 'message/rfc822' });

it('mails that are posted at once are refused for a while where they are more than fit into memory', async () => {
  const head = `From: Ana <ana@example.com>\r\nTo: ${mail.address}\r\nMessage-ID: <large@example.com>\r\n\r\n`;
  const large = head + 'x'.repeat(76).concat('\r\n').repeat(250_000);
  const numbered = Array.from({ length: 10 }, (_, n) => large.replace('large', `large-${n}`));
  const answers = await Promise.all(numbered.map((raw) => post(raw).catch(() => null)));
  const codes = answers.map((answer) => answer?.status ?? 503);
  expect(new Set(codes)).toEqual(new Set([200, 503]));
  // Whoever tries again is served.
  const refusedOne = numbered[codes.indexOf(503)] ?? '';
  expect(await post(refusedOne)).toMatchObject({ status: 200, body: { status: 'accepted' } });
});
