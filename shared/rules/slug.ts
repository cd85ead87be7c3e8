export const SLUG_MAX_CHARS = 40;

/** Lower-case letters and digits with single hyphens between them, because slugs appear in addresses and subjects. */
export const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Mail to these names is for the people who run a domain (RFC 2142), or comes from the service. */
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

/** Whether the slug is reserved: it would be the local part of a project's mail address. */
export function isReservedSlug(slug: string): boolean {
  return RESERVED.has(slug);
}

/** The slug of a name that has no usable characters. */
const NAMELESS = 'project';
/** How many slugs to try, numbered from 2 after the first, before a random ending. */
const NUMBERED = 9;

/** The slug of a name: `Ünïcorn & Co.` becomes `unicorn-co`. */
export function slugOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-');
  return trimmed(plain.slice(0, SLUG_MAX_CHARS + 1)) || NAMELESS;
}

/** The slug of a name, then variants in case it is taken; the last one ends with `random`. */
export function slugsFor(name: string, random: string): string[] {
  const slug = slugOf(name);
  const ends = Array.from({ length: NUMBERED - 1 }, (_, index) => String(index + 2));
  return [slug, ...[...ends, random].map((end) => `${room(slug, end)}-${end}`)];
}

function room(slug: string, end: string): string {
  return trimmed(slug.slice(0, SLUG_MAX_CHARS - end.length - 1));
}

/** Removes hyphens at both ends and cuts to the maximum length. */
function trimmed(text: string): string {
  return text.replace(/^-+/, '').slice(0, SLUG_MAX_CHARS).replace(/-+$/, '');
}
