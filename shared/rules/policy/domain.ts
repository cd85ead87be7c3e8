import { domainToUnicode } from 'node:url';
import { parsedUrl } from '../../lib/urls.ts';

const DOMAIN_CHARS_MAX = 253;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const WILDCARD = '*.';
const ASCII = /^\p{ASCII}*$/u;

/** What's wrong with a rule's `example.com` or `*.example.com`, as a sentence; null if it's fine. */
export function domainProblem(pattern: string): string | null {
  const wild = pattern.startsWith(WILDCARD);
  const domain = wild ? pattern.slice(WILDCARD.length) : pattern;
  // Nobody writes to a domain of a single label, so it is a mistake; after `*.` it covers all of, say, `.gov`.
  if (isDomain(domain) && (wild || domain.includes('.'))) return null;
  const meant = asciiForm(domain);
  return meant !== null && meant !== domain && meant.includes('.') && isDomain(meant)
    ? `Write the domain in lower-case ASCII: \`${wild ? WILDCARD : ''}${meant}\`.`
    : 'Write a domain such as `example.com`, or `*.example.com` for all its subdomains.';
}

/** Whether a domain in comparable form is the pattern's domain or, for a wildcard, one of its subdomains. */
export function domainMatches(pattern: string, domain: string): boolean {
  return pattern.startsWith(WILDCARD) ? domain.endsWith(pattern.slice(1)) : domain === pattern;
}

/** Whether the first pattern matches every domain that the second matches. */
export function domainCovers(broad: string, narrow: string): boolean {
  return narrow.startsWith(WILDCARD)
    ? broad.startsWith(WILDCARD) && narrow.endsWith(broad.slice(1))
    : domainMatches(broad, narrow);
}

/**
 * A recipient's domain in the same form as the patterns: lower case, IDNA, no root dot. This way another spelling can't
 * escape a deny rule. Empty if there is no such form, and then no pattern matches.
 */
export function comparableDomain(domain: string): string {
  const ascii = ASCII.test(domain) ? domain.toLowerCase() : (asciiForm(domain) ?? '');
  return ascii.endsWith('.') ? ascii.slice(0, -1) : ascii;
}

function isDomain(text: string): boolean {
  if (text.length > DOMAIN_CHARS_MAX) return false;
  const labels = text.split('.');
  // The last label of an IP address starts with a digit; the last label of a domain never does.
  if (!labels.every((label) => LABEL.test(label)) || /^\d/.test(labels.at(-1) ?? '')) return false;
  if (!text.includes('xn--')) return true;
  // An `xn--` label is invalid if it doesn't decode, or if what it decodes to has another spelling. Some Node releases
  // leave such a label unchanged.
  return asciiForm(text) === text && !domainToUnicode(text).includes('xn--');
}

/** The IDNA form of a domain, or null. */
function asciiForm(domain: string): string | null {
  if (domain.length > DOMAIN_CHARS_MAX || !/^[\p{L}\p{M}\p{N}.-]+$/u.test(domain)) return null;
  const url = `http://${domain}`;
  return parsedUrl(url)?.hostname ?? null;
}
