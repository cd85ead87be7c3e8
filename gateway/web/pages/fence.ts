import type { Vault } from '../../../shared/kernel/context.ts';
import type { Choice, Opened } from '../../lib/approvals.ts';

// What keeps a decision with the person who was shown the request. The link is the secret that decides. A form carries
// besides a signature over the link and over what its page showed: nothing is decided by whoever posts to a link without
// having looked at it, or by a page of another request. A cookie would add nothing, as it keeps nobody out who has the
// link, and would keep out people whose mail program refuses cookies.

/** What the form of a request's page is signed over: its link, and what the page showed. */
export function decisionText(token: string, { request }: Opened): string {
  return `POST|decision|1|${token}|${request.id}|${request.fingerprint}`;
}

/** What the form that confirms an address is signed over. */
export function addressText(token: string): string {
  return `POST|address|1|${token}`;
}

/** What the form that confirms a sign-in is signed over. */
export function signInText(token: string): string {
  return `POST|sign-in|1|${token}`;
}

/**
 * A choice on its way from the first step to the second, where the address of the page carries it: sealed, so that it
 * cannot be made but by the first step, fits nothing but this request, and puts no comment into anybody's log.
 */
export function sealStep(vault: Vault, token: string, opened: Opened, choice: Choice): string {
  const sealed = vault.seal(stepPlace(token, opened), JSON.stringify(choice));
  return Buffer.from(sealed).toString('base64url');
}

/** Null for what no first step of this link made. */
export function openStep(
  vault: Vault,
  token: string,
  opened: Opened,
  step: string | undefined,
): Choice | null {
  if (step === undefined) return null;
  try {
    const plain = vault.open(stepPlace(token, opened), Buffer.from(step, 'base64url'));
    // What opens was a choice when it was sealed.
    return JSON.parse(Buffer.from(plain).toString('utf8')) as Choice;
  } catch {
    return null;
  }
}

function stepPlace(token: string, { request }: Opened): string {
  return `page|step|${token}|${request.id}|${request.fingerprint}`;
}

/** What a browser says about where a form was sent from. */
export interface Sender {
  readonly site: string | undefined;
  readonly origin: string | undefined;
  readonly host: string | undefined;
}

/**
 * True for a form on somebody else's page. Our own pages send no referrer, and browsers then call their origin `null`:
 * that says nothing, and `Sec-Fetch-Site` or the signature has to.
 */
export function isForeign({ site, origin, host }: Sender, ownOrigin: string): boolean {
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  if (origin === undefined || origin === 'null' || origin === ownOrigin) return false;
  return !URL.canParse(origin) || new URL(origin).host !== host?.toLowerCase();
}
