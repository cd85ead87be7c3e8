import { createHmac } from 'node:crypto';

export const BODY_BYTES = 1024;

/** Added to the number of a body, so that all are of one length. */
export const FIRST_NUMBER = 10_000_000;

/** What stands before and after the number of a body. */
export function bodyParts(): { before: string; after: string } {
  const before = '{"action":"opened","number":';
  const start = ',"repository":{"id":1296269,"full_name":"octo/bench","private":false},"text":"';
  const filled = before.length + String(FIRST_NUMBER).length + start.length + 2;
  return { before, after: `${start}${'x'.repeat(BODY_BYTES - filled)}"}` };
}

/** 1 KB of JSON like that of a small event, with a number of its own. */
export function deliveryBody(number: number): string {
  const { before, after } = bodyParts();
  return `${before}${FIRST_NUMBER + number}${after}`;
}

/** GitHub's signature header of a body. */
export function signature(secret: string, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}
