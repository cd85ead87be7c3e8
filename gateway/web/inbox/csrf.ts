import type { Session } from './sessions.ts';

/** What the forms of a session are signed over: none counts but those that its own pages showed. */
export function sessionCsrf({ idHash }: Pick<Session, 'idHash'>): string {
  return `POST|ui|1|${idHash}`;
}
