import { domainOf, isMailAddress, likelyMailbox } from '../../shared/rules/mail/mail-address.ts';

/** Who may have an account on this gateway besides invited people and the first person: the setting `SVC_SIGN_UP`. */
export interface SignUpRule {
  /** Anyone may. */
  readonly isOpen: boolean;
  /** Domains whose addresses may, in lower case. */
  readonly domains: readonly string[];
  /** Mailboxes that may. */
  readonly mailboxes: readonly string[];
}

export const SIGN_UP_OPEN: SignUpRule = { isOpen: true, domains: [], mailboxes: [] };

/** Reads `closed`, `open`, or addresses and `@domains` separated by commas. Throws an error that says what's wrong. */
export function readSignUp(text: string): SignUpRule {
  const word = text.trim().toLowerCase();
  if (word === 'open') return SIGN_UP_OPEN;
  if (word === 'closed') return { isOpen: false, domains: [], mailboxes: [] };
  const entries = word.split(',').map((entry) => entry.trim());
  const isRight = (entry: string): boolean => isMailAddress(isDomain(entry) ? `a${entry}` : entry);
  if (!entries.every(isRight)) {
    throw new Error(
      'SVC_SIGN_UP must be `closed`, `open`, or addresses and domains such as `ana@example.com,@example.org`.',
    );
  }
  return {
    isOpen: false,
    domains: entries.filter(isDomain).map((entry) => entry.slice(1)),
    mailboxes: entries.filter((entry) => !isDomain(entry)).map(likelyMailbox),
  };
}

function isDomain(entry: string): boolean {
  return entry.startsWith('@');
}

/** Whether the setting lets this address have an account. */
export function isAllowed({ isOpen, domains, mailboxes }: SignUpRule, address: string): boolean {
  return (
    isOpen || domains.includes(domainOf(address)) || mailboxes.includes(likelyMailbox(address))
  );
}

/** The text to sign to find an account or an invitation by its mailbox. */
export function mailboxHashText(address: string): string {
  return `account|mailbox|1|${likelyMailbox(address)}`;
}

/** The additional data that seals the address of an invitation. */
export function invitationAad(id: string): string {
  return `invitation|${id}|address`;
}
