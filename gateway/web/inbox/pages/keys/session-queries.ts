import { keyCreate } from '../../../../../shared/operations/key/create.ts';
import type { Access } from '../../session/access.ts';
import type { OpenSession, Session } from '../../session/sessions.ts';
import type { PageContext } from '../../page-context.ts';

/** A session, for a visitor who may end it. */
export interface SessionRow {
  /** Identifies the session in this session's forms only. */
  readonly handle: string;
  readonly session: OpenSession;
  /** What the session may do here. */
  readonly access: Access;
  /** True for the visitor's own session. */
  readonly isThis: boolean;
}

const HANDLE_CHARS = 22;

/**
 * An owner or an admin sees the sessions of all keys, and so does anyone who may decide because no owner is set; others
 * see only their own.
 */
export function seesAll({ access, may }: PageContext): boolean {
  return access.deciding === 'anybody' || (access.member !== null && may(keyCreate));
}

/** Newest first, but the visitor's own session before all others. */
export async function sessionsOf(context: PageContext): Promise<SessionRow[]> {
  const { access, inbox, session } = context;
  const { holder } = session;
  const found =
    holder.kind === 'key' && !seesAll(context)
      ? await inbox.sessions.ofKey(holder)
      : await inbox.sessions.ofOwner(
          holder.kind === 'owner' ? holder.address : null,
          context.project.id,
        );
  const seen = found.filter((one) => seesAll(context) || one.holder.kind === holder.kind);
  const listed = await Promise.all(
    seen.map(async (one) => {
      // A session whose key was revoked has ended, though its row still exists.
      const its = await inbox.access.judge(one, access.project);
      const isThis = one.idHash === session.idHash;
      return its && { handle: handleOf(context, one), session: one, access: its, isThis };
    }),
  );
  return listed
    .filter((one) => one !== null)
    .toSorted(
      (a, b) => Number(b.isThis) - Number(a.isThis) || b.session.begunAt - a.session.begunAt,
    );
}

/** Ends those that are still open. */
export async function end({ inbox }: PageContext, sessions: readonly SessionRow[]): Promise<void> {
  for (const { session } of sessions) await inbox.sessions.end(session);
}

function handleOf({ inbox, session }: PageContext, { idHash }: Pick<Session, 'idHash'>): string {
  return inbox.vault.sign(`ui|session|1|${session.idHash}|${idHash}`).slice(0, HANDLE_CHARS);
}
