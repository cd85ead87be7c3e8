const ADDRESS_CHARS_MAX = 254;
const LOCAL_CHARS_MAX = 64;
const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
// Each character can be matched in one way only, so the time is linear.
const ADDRESS = new RegExp(`^${ATOM}(?:\\.${ATOM})*@${LABEL}(?:\\.${LABEL})*$`);

/**
 * Whether a text is a plain ASCII address `local@domain`: no display name, no quotes, no comment, nothing that a mail
 * server or a header could read as more than one address.
 */
export function isMailAddress(text: string): boolean {
  if (text.length > ADDRESS_CHARS_MAX || text.indexOf('@') > LOCAL_CHARS_MAX) return false;
  return ADDRESS.test(text);
}

/**
 * Whether a server may take such an address for another one: `ana%example.org@example.com` and `example.org!ana@example.com`
 * were once ways to name a route, and Postfix still follows them for the domains it is the end of (allow_percent_hack,
 * swap_bangpath). What is judged by the domain of an address must not take it.
 */
export function isRouted(address: string): boolean {
  return /[%!]/.test(address);
}

/** What stands behind the `@` of such an address. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase();
}

/** The address as two spellings of it compare: the domain in lower case, the local part as given (RFC 5321 section 2.4). */
export function comparableAddress(address: string): string {
  const at = address.lastIndexOf('@');
  return address.slice(0, at) + address.slice(at).toLowerCase();
}

/** `a***@example.com`: enough for its owner to know it, too little for anybody else. */
export function maskedAddress(address: string): string {
  const at = address.lastIndexOf('@');
  return `${address.slice(0, 1)}***${address.slice(at).toLowerCase()}`;
}

/**
 * The mailbox that an address most likely reaches, to count by and for nothing else: few mailboxes tell capitals from
 * small letters, and many take mail for `ana+anything` as for `ana`.
 */
export function likelyMailbox(address: string): string {
  const at = address.lastIndexOf('@');
  const local = address.slice(0, at).replace(/(?<=.)\+.*$/, '');
  return (local + address.slice(at)).toLowerCase();
}
