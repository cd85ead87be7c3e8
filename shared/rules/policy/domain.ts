import { domainToUnicode } from 'node:url';

const DOMAIN_CHARS_MAX = 253;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const WILDCARD = '*.';
const ASCII = /^\p{ASCII}*$/u;

/** What is wrong with `example.com` or `*.example.com` as a rule has it, as a sentence, or null. */
export function domainProblem(pattern: string): string | null {
  const wild = pattern.startsWith(WILDCARD);
  const domain = wild ? pattern.slice(WILDCARD.length) : pattern;
  // A single label names no domain people write to, so it is a slip; below `*.` it names all of `.gov`.
  if (isDomain(domain) && (wild || domain.includes('.'))) return null;
  const meant = asciiForm(domain);
  return meant !== null && meant !== domain && meant.includes('.') && isDomain(meant)
    ? `Write the domain in lower-case ASCII: \`${wild ? WILDCARD : ''}${meant}\`.`
    : 'Write a domain such as `example.com`, or `*.example.com` for all its subdomains.';
}

/** Whether a domain in its comparable form is the one a pattern names, or below it. */
export function domainMatches(pattern: string, domain: string): boolean {
  return pattern.startsWith(WILDCARD) ? domain.endsWith(pattern.slice(1)) : domain === pattern;
}

/** Whether the first pattern matches every domain that the second one matches. */
export function domainCovers(broad: string, narrow: string): boolean {
  return narrow.startsWith(WILDCARD)
    ? broad.startsWith(WILDCARD) && narrow.endsWith(broad.slice(1))
    : domainMatches(broad, narrow);
}

/**
 * The domain of a recipient in the form of the patterns, so that a deny is not escaped by another spelling of the same
 * domain: lower case, IDNA, no root dot. Empty, and so matched by nothing, when there is no such form.
 */
export function comparableDomain(domain: string): string {
  const ascii = ASCII.test(domain) ? domain.toLowerCase() : (asciiForm(domain) ?? '');
  return ascii.endsWith('.') ? ascii.slice(0, -1) : ascii;
}

function isDomain(text: string): boolean {
  if (text.length > DOMAIN_CHARS_MAX) return false;
  const labels = text.split('.');
  // The last label of an address in numbers begins with a digit, and that of a domain never does.
  if (!labels.every((label) => LABEL.test(label)) || /^\d/.test(labels.at(-1) ?? '')) return false;
  if (!text.includes('xn--')) return true;
  // An `xn--` that decodes to nothing, or to what would be written otherwise, is no name. Some releases leave it as it is.
  return asciiForm(text) === text && !domainToUnicode(text).includes('xn--');
}

/** What IDNA makes of a domain, or null. */
function asciiForm(domain: string): string | null {
  if (domain.length > DOMAIN_CHARS_MAX || !/^[\p{L}\p{M}\p{N}.-]+$/u.test(domain)) return null;
  const url = `http://${domain}`;
  return URL.canParse(url) ? new URL(url).hostname : null;
}
