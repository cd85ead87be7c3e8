/** What turns text around, and so one file name into another on a screen. */
const BIDI = /\p{Bidi_Control}/gu;
/** Stands for itself in an extended parameter of RFC 8187. */
const PLAIN = /^[\w!#$&+\-.^`|~]$/;

/**
 * The Content-Disposition (RFC 6266) of a file that is saved and never shown: the name in ASCII for old clients, and the
 * whole of it. The name is the last segment of the path.
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

/** encodeURIComponent leaves `'()*` as they are. */
function percent(character: string): string {
  return Array.from(
    Buffer.from(character),
    (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
  ).join('');
}
