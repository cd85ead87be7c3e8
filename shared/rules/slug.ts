export const SLUG_MAX_CHARS = 40;

/** Lower-case letters, digits and single hyphens between them: it stands in addresses and subjects. */
export const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Mail to these is for whoever runs a domain (RFC 2142), or comes from the service itself. */
const RESERVED: ReadonlySet<string> = new Set([
  'abuse',
  'admin',
  'administrator',
  'approvals',
  'hostmaster',
  'info',
  'mailer-daemon',
  'no-reply',
  'noc',
  'noreply',
  'postmaster',
  'root',
  'security',
  'support',
  'svc',
  'webmaster',
]);

/** Whether no project may have it: it would be its address. */
export function isReservedSlug(slug: string): boolean {
  return RESERVED.has(slug);
}

/** Where nothing of a name is left. */
const NAMELESS = 'project';
/** So many are tried with a number before a random end is taken. */
const NUMBERED = 9;

/** What a name is in an address: `Ünïcorn & Co.` becomes `unicorn-co`. */
export function slugOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-');
  return trimmed(plain.slice(0, SLUG_MAX_CHARS + 1)) || NAMELESS;
}

/** The slug of a name, then variants of it for when it is taken; the last one ends with what is `random`. */
export function slugsFor(name: string, random: string): string[] {
  const slug = slugOf(name);
  const ends = Array.from({ length: NUMBERED - 1 }, (_, index) => String(index + 2));
  return [slug, ...[...ends, random].map((end) => `${room(slug, end)}-${end}`)];
}

function room(slug: string, end: string): string {
  return trimmed(slug.slice(0, SLUG_MAX_CHARS - end.length - 1));
}

/** Without hyphens at its ends, and not too long. */
function trimmed(text: string): string {
  return text.replace(/^-+/, '').slice(0, SLUG_MAX_CHARS).replace(/-+$/, '');
}
