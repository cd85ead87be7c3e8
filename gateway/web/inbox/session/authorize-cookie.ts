import { getCookie } from 'hono/cookie';
import { LOGIN_MS } from '../../../../shared/lib/limits.ts';
import type { Ctx } from '../../pages/page-answers.tsx';
import type { Ui } from '../frame/answers.tsx';

// A person who signs in to connect an app comes back to the app's request with the mailed link. The request waits in a
// cookie, so only the browser that began it goes on.

/** Browsers keep about 4 KB. */
const REQUEST_MAX_CHARS = 2800;

function nameIn({ cookie }: Ui): string {
  return `${cookie.name}_app`;
}

/** The cookie that keeps a request, given by its query, while the person signs in; null if it's too long. */
export function keepRequest(ui: Ui, query: string): Record<string, string> {
  if (query.length > REQUEST_MAX_CHARS) return {};
  const value = Buffer.from(query).toString('base64url');
  const maxAge = `Max-Age=${LOGIN_MS / 1000}`;
  return { 'Set-Cookie': `${nameIn(ui)}=${value}; ${maxAge}; ${ui.cookie.attributes}` };
}

export function forgetRequest(ui: Ui): Record<string, string> {
  return { 'Set-Cookie': `${nameIn(ui)}=; Max-Age=0; ${ui.cookie.attributes}` };
}

/** The query of the request that waits in this browser; null if there is none. */
export function waitingRequest(ui: Ui, c: Ctx): string | null {
  const value = getCookie(c, nameIn(ui)) ?? '';
  const query = Buffer.from(value, 'base64url').toString('utf8');
  // Only what our own page set looks like this; it must not become a header with line ends.
  return /^[\x21-\x7e]+$/.test(query) ? query : null;
}
