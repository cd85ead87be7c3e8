import type { Session } from './sessions.ts';

/** The text that we sign for a session's forms, so that only forms from its own pages are valid. */
export function sessionCsrf({ idHash }: Pick<Session, 'idHash'>): string {
  return `POST|ui|1|${idHash}`;
}
