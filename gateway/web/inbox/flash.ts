import type { PageContext } from './page-context.ts';

// What came of a form is shown by the page it leads on to. The address carries it: sealed, so that nobody makes up a
// sentence of ours, and for this session and this thing alone.

function placeOf({ session, project }: PageContext, about: string): string {
  return `ui|told|${session.idHash}|${project.id}|${about}`;
}

/** Goes into the field `told` of the query. */
export function sealFlash(context: PageContext, about: string, flash: unknown): string {
  const sealed = context.inbox.vault.seal(placeOf(context, about), JSON.stringify(flash));
  return Buffer.from(sealed).toString('base64url');
}

/** Null where there is nothing that a form of this session left. */
export function openFlash(context: PageContext, about: string): unknown {
  const flash = context.query('told');
  if (flash === undefined) return null;
  try {
    const plain = context.inbox.vault.open(
      placeOf(context, about),
      Buffer.from(flash, 'base64url'),
    );
    return JSON.parse(Buffer.from(plain).toString('utf8')) as unknown;
  } catch {
    return null;
  }
}
