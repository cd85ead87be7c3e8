/**
 * On every answer: it is exactly what its Content-Type says, and no browser may run or frame any of it. Pages set their
 * own policy instead.
 */
export const SAFE_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
} as const;
