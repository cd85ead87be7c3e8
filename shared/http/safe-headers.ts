/**
 * Part of every answer: it is what its Content-Type says, and no browser runs, frames or builds anything of it. Pages put
 * a policy of their own in the place of this one.
 */
export const SAFE_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
} as const;
