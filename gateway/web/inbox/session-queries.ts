import type { Access } from './access.ts';
import type { OpenSession, Session } from './sessions.ts';
import type { PageContext } from './page-context.ts';

/** A session as whoever may end it sees it. */
export interface Listed {
  /** Names it in the forms of this session, and nowhere else. */
  readonly handle: string;
  readonly session: OpenSession;
  /** What it may do here. */
  readonly access: Access;
  /** The one that looks. */
  readonly isThis: boolean;
}

const HANDLE_CHARS = 22;

/** An owner sees all sessions of the project, and whoever may decide for want of one; a key sees its own. */
export function seesAll({ access }: PageContext): boolean {
  return access.deciding !== 'not_a_key';
}

/** The last begun first, but this one before all others. */
export async function sessionsOf(context: PageContext): Promise<Listed[]> {
  const { access, inbox, session } = context;
  const { holder } = session;
  const found =
    holder.kind === 'key' && !seesAll(context)
      ? await inbox.sessions.ofKey(holder)
      : await inbox.sessions.ofOwner(
          holder.kind === 'owner' ? holder.address : null,
          context.project.id,
        );
  const listed = await Promise.all(
    found.map(async (one) => {
      // One whose key was revoked is over, though its row is there.
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
export async function end({ inbox }: PageContext, sessions: readonly Listed[]): Promise<void> {
  for (const { session } of sessions) await inbox.sessions.end(session);
}

function handleOf({ inbox, session }: PageContext, { idHash }: Pick<Session, 'idHash'>): string {
  return inbox.vault.sign(`ui|session|1|${session.idHash}|${idHash}`).slice(0, HANDLE_CHARS);
}
