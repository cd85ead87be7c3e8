import type { PageContext } from '../inbox/page-context.ts';

// The page after a form shows the form's result, which travels in the URL. It is sealed, so that nobody can invent a
// message of ours, and valid only for this session and this item.

function aadOf({ session, project }: PageContext, about: string): string {
  return `ui|told|${session.idHash}|${project.id}|${about}`;
}

/** The value for the query field `told`. */
export function sealFlash(context: PageContext, about: string, flash: unknown): string {
  const sealed = context.inbox.vault.seal(aadOf(context, about), JSON.stringify(flash));
  return Buffer.from(sealed).toString('base64url');
}

/** Null if the URL has no result from a form of this session. */
export function openFlash(context: PageContext, about: string): unknown {
  const flash = context.query('told');
  if (flash === undefined) return null;
  try {
    const plain = context.inbox.vault.open(aadOf(context, about), Buffer.from(flash, 'base64url'));
    return JSON.parse(Buffer.from(plain).toString('utf8')) as unknown;
  } catch {
    return null;
  }
}
