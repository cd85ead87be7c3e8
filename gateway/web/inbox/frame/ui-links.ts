import * as z from 'zod';

// Input and answer of the route that `svc open` uses to open the web inbox.

/**
 * A page of the web inbox and optionally an item on it: `requests`, `requests/req_01j9…`. Has no `.`, so that it can't
 * lead anywhere else.
 */
export const UI_PAGE = /^[a-z]{1,32}(?:\/[0-9A-Za-z_-]{1,100})?$/;

export const uiLinkInput = z.strictObject({
  page: z
    .string()
    .regex(UI_PAGE, 'Expected a page such as `requests` or `requests/req_01j…`.')
    .optional()
    .describe('The page to open (default: the first one).'),
});

export const uiLinkAnswer = z.strictObject({
  url: z.string().describe('A secret: the first person to open it acts with the key.'),
  expires_at: z.string(),
});
