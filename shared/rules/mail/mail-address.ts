const ADDRESS_CHARS_MAX = 254;
const LOCAL_CHARS_MAX = 64;
const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
// Each character can match in only one way, so matching takes linear time.
const ADDRESS = new RegExp(`^${ATOM}(?:\\.${ATOM})*@${LABEL}(?:\\.${LABEL})*$`);

/**
 * Whether a text is a plain ASCII address `local@domain`: no display name, quotes or comment, nothing that a mail
 * server or a header could read as more than one address.
 */
export function isMailAddress(text: string): boolean {
  if (text.length > ADDRESS_CHARS_MAX || text.indexOf('@') > LOCAL_CHARS_MAX) return false;
  return ADDRESS.test(text);
}

/**
 * Whether a mail server may send mail for this address to another one: `ana%example.org@example.com` and
 * `example.org!ana@example.com` once named routes, and Postfix still follows them for its own domains
 * (allow_percent_hack, swap_bangpath). Code that judges addresses by domain must refuse them.
 */
export function isRouted(address: string): boolean {
  return /[%!]/.test(address);
}

/** The domain of an address, in lower case. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase();
}

/** The address in a form to compare: the domain in lower case, the local part as given (RFC 5321 section 2.4). */
export function comparableAddress(address: string): string {
  const at = address.lastIndexOf('@');
  return address.slice(0, at) + address.slice(at).toLowerCase();
}

/** `a***@example.com`: its owner recognizes it, but nobody else can tell the address. */
export function maskedAddress(address: string): string {
  const at = address.lastIndexOf('@');
  return `${address.slice(0, 1)}***${address.slice(at).toLowerCase()}`;
}

/**
 * The mailbox that an address most likely reaches. Few mailboxes distinguish upper and lower case, and many accept mail for
 * `ana+anything` as `ana`. Gmail has two domains, and ignores dots. Accounts are found by it, so it can't change.
 */
export function likelyMailbox(address: string): string {
  const lower = address.toLowerCase();
  const at = lower.lastIndexOf('@');
  const local = lower.slice(0, at).replace(/(?<=.)\+.*$/, '');
  const domain = lower.slice(at + 1).replace(/\.$/, '');
  const isGmail = domain === 'gmail.com' || domain === 'googlemail.com';
  return isGmail ? `${local.replaceAll('.', '')}@gmail.com` : `${local}@${domain}`;
}

/** Further providers with several domains for one mailbox, and the characters that their mailboxes ignore. */
const PROVIDERS: readonly { readonly domains: readonly string[]; readonly ignored: RegExp }[] = [
  { domains: ['icloud.com', 'me.com', 'mac.com'], ignored: /(?!)/g },
  { domains: ['proton.me', 'protonmail.com', 'protonmail.ch', 'pm.me'], ignored: /[._-]/g },
  { domains: ['yandex.ru', 'yandex.com', 'ya.ru'], ignored: /[.-]/g },
];

/** The same for all addresses that one person may have at a provider; use it only for counting people. */
export function likelyPerson(address: string): string {
  const mailbox = likelyMailbox(address);
  const at = mailbox.lastIndexOf('@');
  const provider = PROVIDERS.find(({ domains }) => domains.includes(mailbox.slice(at + 1)));
  if (!provider) return mailbox;
  return `${mailbox.slice(0, at).replaceAll(provider.ignored, '')}@${provider.domains[0]}`;
}
