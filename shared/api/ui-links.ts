import * as z from 'zod';

// What the route takes and answers by which `svc open` opens the web inbox.

/** A page of the web inbox, and something on it: `requests`, `requests/req_01j9…`. No `.`, so that it leads nowhere else. */
export const UI_PAGE = /^[a-z]{1,32}(?:\/[0-9A-Za-z_-]{1,100})?$/;

export const uiLinkInput = z.strictObject({
  page: z
    .string()
    .regex(UI_PAGE, 'Expected a page such as `requests` or `requests/req_01j…`.')
    .optional()
    .describe('What to open; the first page unless said.'),
});

export const uiLinkAnswer = z.strictObject({
  url: z.string().describe('A secret: whoever opens it first acts as the key.'),
  expires_at: z.string(),
});
