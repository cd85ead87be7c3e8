import type { Vault } from '../../../shared/kernel/context.ts';
import type { Choice, OpenedRequest } from '../../approvals/approvals.ts';
import { parsedUrl } from '../../../shared/lib/urls.ts';

// Keeps a decision with the person who saw the request. The link is the secret that decides. A form also has a
// signature over the link and the content that its page showed, so nobody can decide by posting to a link without
// opening it, or from another request's page. A cookie wouldn't help: it keeps out nobody who has the link, but it
// would keep out people whose mail program refuses cookies.

/** The text to sign for a request's form: its link and the content that the page showed. */
export function decisionText(token: string, { request }: OpenedRequest): string {
  return `POST|decision|1|${token}|${request.id}|${request.fingerprint}`;
}

/** The text to sign for the form that verifies an address. */
export function addressText(token: string): string {
  return `POST|address|1|${token}`;
}

/** The text to sign for the form that confirms a sign-in. */
export function signInText(token: string): string {
  return `POST|sign-in|1|${token}`;
}

/**
 * Seals a choice for the URL between the first and the second step. Only the first step can create it, it fits only
 * this request, and its comment appears in nobody's log.
 */
export function sealStep(
  vault: Vault,
  token: string,
  opened: OpenedRequest,
  choice: Choice,
): string {
  const sealed = vault.seal(stepAad(token, opened), JSON.stringify(choice));
  return Buffer.from(sealed).toString('base64url');
}

/** Null for anything that the first step of this link didn't create. */
export function openStep(
  vault: Vault,
  token: string,
  opened: OpenedRequest,
  step: string | undefined,
): Choice | null {
  if (step === undefined) return null;
  try {
    const plain = vault.open(stepAad(token, opened), Buffer.from(step, 'base64url'));
    // Whatever opens was a choice when we sealed it.
    return JSON.parse(Buffer.from(plain).toString('utf8')) as Choice;
  } catch {
    return null;
  }
}

function stepAad(token: string, { request }: OpenedRequest): string {
  return `page|step|${token}|${request.id}|${request.fingerprint}`;
}

/** What a browser says about the page that sent a form. */
export interface Sender {
  readonly site: string | undefined;
  readonly origin: string | undefined;
  readonly host: string | undefined;
}

/**
 * True for a form from another site. Our own pages send no referrer, so browsers report their origin as `null`; that
 * proves nothing, and `Sec-Fetch-Site` or the signature must decide.
 */
export function isForeign({ site, origin, host }: Sender, ownOrigin: string): boolean {
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  if (origin === undefined || origin === 'null' || origin === ownOrigin) return false;
  const from = parsedUrl(origin);
  return from === null || from.host !== host?.toLowerCase();
}
