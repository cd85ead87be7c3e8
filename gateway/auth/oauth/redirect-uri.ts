import { parsedUrl } from '../../../shared/lib/urls.ts';

const CHARS_MAX = 512;
const LOOPBACK = ['127.0.0.1', '[::1]', 'localhost'];

/** Whether codes may go to this address: https, or a program on the person's own computer (RFC 8252). */
export function isRedirectUri(text: string): boolean {
  if (text.length > CHARS_MAX || /[\s\\#]/.test(text)) return false;
  const url = parsedUrl(text);
  if (!url || url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || isLoopback(url);
}

export function isLoopback({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && LOOPBACK.includes(hostname);
}

/** Whether a client registered this address. Only the port may differ, and only on loopback (RFC 8252, section 7.3). */
export function isRegistered(registered: readonly string[], asked: string): boolean {
  if (!isRedirectUri(asked)) return false;
  return registered.some((one) => one === asked || withoutPort(one) === withoutPort(asked));
}

/** Itself unless it is a loopback address. */
function withoutPort(text: string): string {
  return isLoopback(new URL(text))
    ? text.replace(/^(http:\/\/(?:\[::1\]|[^/:?]+)):\d+/i, '$1')
    : text;
}

/** A redirect to the client. */
export function withParameters(
  redirectUri: string,
  parameters: Readonly<Record<string, string | undefined>>,
): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(given as [string, string][]).toString();
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}`;
}
