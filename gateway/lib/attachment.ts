/** Characters that reverse text, and could disguise a file name on a screen. */
const BIDI = /\p{Bidi_Control}/gu;
/** A character that needs no encoding in an extended parameter of RFC 8187. */
const PLAIN = /^[\w!#$&+\-.^`|~]$/;

/**
 * The Content-Disposition (RFC 6266) of a file that browsers save and never show: an ASCII name for old clients, and
 * the full name. The name is the path's last segment.
 */
export function attachment(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1).replace(BIDI, '_');
  const ascii = name.replaceAll(/[^\x20-\x7e]|["\\%]/gu, '_');
  return `attachment; filename="${ascii}"; filename*=UTF-8''${extended(name)}`;
}

function extended(name: string): string {
  return Array.from(name, (character) =>
    PLAIN.test(character) ? character : percent(character),
  ).join('');
}

/** We don't use encodeURIComponent, because it leaves `'()*` unencoded. */
function percent(character: string): string {
  return Array.from(
    Buffer.from(character),
    (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
  ).join('');
}

/** The headers of a stranger's bytes, as a download that no browser runs or shows. */
export function attachmentHeaders(path: string, contentType: string): Record<string, string> {
  return {
    'Content-Type': contentType,
    'Content-Disposition': attachment(path),
    'Content-Security-Policy':
      "sandbox; default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
  };
}
