import { domainToASCII, domainToUnicode } from 'node:url';
import { isMailAddress, isRouted } from '../../../../shared/rules/mail/mail-address.ts';

/** Nothing that any reader of addresses takes for a mark: no blank, control, invisible character, quote or route. */
const LOCAL = /^[^\p{C}\p{Z}\ufffd"(),:;<>@[\\\]]+$/u;

/**
 * The one address of a From field as received, without quoted names and comments. Null if its form leaves room for another
 * reading: two addresses, a group, a route, a quoted local part, a second `@`. Stricter than RFC 5322, because a sender
 * can be checked only if every reader sees the same one.
 */
export function onlyAddress(field: string): string | null {
  const text = unquoted(field);
  if (text === null) return null;
  const angled = /^([^<>]*)<([^<>]*)>$/.exec(text.trim());
  const [name, address] = angled ? [angled[1] ?? '', angled[2] ?? ''] : ['', text];
  return /[,:;]/.test(name) ? null : address.trim();
}

/** The address's domain in ASCII; null unless the address is one that a server could have signed for. */
export function signableDomain(address: string): string | null {
  const at = address.indexOf('@');
  const [local, domain] = [address.slice(0, Math.max(at, 0)), address.slice(at + 1)];
  // A wide or a small `＠` looks like the mark.
  const plain = local.normalize('NFKC');
  // Some readers decode encoded words everywhere.
  if (!LOCAL.test(plain) || isRouted(plain) || local.includes('=?')) return null;
  const ascii = domainToASCII(domain);
  const written = domain.toLowerCase().normalize('NFC');
  // Mapped to another name, such as one without its invisible characters, it's not the one that people see.
  const isAsWritten = written === ascii || written === domainToUnicode(ascii);
  return isAsWritten && isMailAddress(`a@${ascii}`) ? ascii : null;
}

/** Without quoted strings and comments; null if one of them doesn't end. */
function unquoted(field: string): string | null {
  let kept = '';
  let depth = 0;
  let inQuotes = false;
  for (let at = 0; at < field.length; at += 1) {
    const character = field.charAt(at);
    if (character === '\\' && (inQuotes || depth > 0)) at += 1;
    else if (inQuotes) inQuotes = character !== '"';
    else if (character === '(') depth += 1;
    else if (depth > 0) depth -= character === ')' ? 1 : 0;
    else if (character === '"') {
      inQuotes = true;
      // Beside it an address has another local part, so the mark stays.
      kept += '"';
    } else kept += character;
  }
  return inQuotes || depth > 0 ? null : kept;
}
