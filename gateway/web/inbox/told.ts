import type { Visit } from './visit.ts';

// What came of a form is shown by the page it leads on to. The address carries it: sealed, so that nobody makes up a
// sentence of ours, and for this session and this thing alone.

function placeOf({ session, project }: Visit, about: string): string {
  return `ui|told|${session.idHash}|${project.id}|${about}`;
}

/** Goes into the field `told` of the query. */
export function sealTold(visit: Visit, about: string, told: unknown): string {
  const sealed = visit.inbox.vault.seal(placeOf(visit, about), JSON.stringify(told));
  return Buffer.from(sealed).toString('base64url');
}

/** Null where there is nothing that a form of this session left. */
export function openTold(visit: Visit, about: string): unknown {
  const told = visit.query('told');
  if (told === undefined) return null;
  try {
    const plain = visit.inbox.vault.open(placeOf(visit, about), Buffer.from(told, 'base64url'));
    return JSON.parse(Buffer.from(plain).toString('utf8')) as unknown;
  } catch {
    return null;
  }
}
