import { findKey, isExpired } from '../../../../shared/kernel/authentication.ts';
import type { Clock } from '../../../../shared/lib/clock.ts';
import { isoTime } from '../../../../shared/lib/clock.ts';
import type { Caller, ProjectInfo, Vault } from '../../../../shared/kernel/context.ts';
import type { Scope } from '../../../../shared/lib/scopes.ts';
import { isDecider, ROLE_RULES, type Role } from '../../../../shared/rules/roles.ts';
import type { UiSessionStore } from '../../../store/control/ui-sessions.ts';
import type { Project } from '../../../projects/project.ts';
import type { Projects } from '../../../projects/projects.ts';
import { accountHashText } from '../../../auth/logins.ts';
import { activeMember, channelWithoutOwner } from '../../../auth/session-holder.ts';
import type { Holder, Session } from './sessions.ts';

interface AccessDeps {
  readonly projects: Projects;
  readonly store: UiSessionStore;
  readonly clock: Clock;
  readonly vault: Vault;
  /** True on a local machine, whose user owns all its keys: nobody signs in here from elsewhere. */
  readonly isLocal: boolean;
}

/** Who may decide in a session, or why nobody may. */
type Deciding =
  /** A member whose role decides. */
  | 'member'
  /** A member whose role decides nothing. */
  | 'not_this_role'
  /** Anyone who uses this machine, because no owner's address is set. */
  | 'anybody'
  /** A key never decides, because an agent could open its own inbox; on a local machine, a limited key doesn't. */
  | 'not_a_key';

/** What a session may do in one project. */
export interface Access {
  readonly project: Project;
  /** The id of a key, of a member's channel, or of a member who is never asked. */
  readonly actor: string;
  readonly scopes: readonly Scope[];
  readonly diskPrefixes: readonly string[] | null;
  readonly deciding: Deciding;
  /** The channel that decisions come from; null if there are none. */
  readonly channelId: string | null;
  /** Null for a key. */
  readonly member: { readonly id: string; readonly role: Role } | null;
  /** The session's user, as the page shows it. */
  readonly name: string;
  /** See `Caller`. */
  readonly secretHash?: string;
}

/** Checks access on each request, because someone may revoke a key, rotate its secret, or replace an owner. */
export class AccessService {
  readonly #deps: AccessDeps;

  constructor(deps: AccessDeps) {
    this.#deps = deps;
  }

  /** The projects that a session may open, oldest first. */
  async projectsOf({ holder }: Pick<Session, 'holder'>): Promise<ProjectInfo[]> {
    const found = await Promise.all(
      (await this.#candidates(holder)).map((id) => this.#accessTo(holder, id)),
    );
    return found.flatMap((access) => (access ? [access.project.info] : []));
  }

  /** A session's access to the project with this slug; null without access or without such a project. */
  async inProject({ holder }: Session, slug: string): Promise<Access | null> {
    const project = await this.#deps.projects.findBySlug(slug);
    return project && this.#accessOf(holder, project);
  }

  /** A session's access to an open project; null without access. */
  judge({ holder }: Pick<Session, 'holder'>, project: Project): Promise<Access | null> {
    return this.#accessOf(holder, project);
  }

  async #candidates(holder: Holder): Promise<string[]> {
    const { isLocal, projects, store, vault } = this.#deps;
    if (holder.kind === 'key') return [holder.projectId];
    if (isLocal) return (await projects.list()).map(({ id }) => id);
    return store.projectsOf(vault.sign(accountHashText(holder.address)));
  }

  async #accessTo(holder: Holder, projectId: string): Promise<Access | null> {
    const project = await this.#deps.projects.find(projectId);
    return project && this.#accessOf(holder, project);
  }

  #accessOf(holder: Holder, project: Project): Promise<Access | null> {
    return holder.kind === 'key'
      ? this.#ofKey(holder, project)
      : this.#ofMember(holder.address, project);
  }

  async #ofKey(
    { projectId, keyId, keyHash }: Holder & { kind: 'key' },
    project: Project,
  ): Promise<Access | null> {
    if (project.info.id !== projectId) return null;
    const now = this.#deps.clock.now();
    const { key } = await findKey(project, keyHash, now);
    if (key?.id !== keyId || key.revoked_at !== null || isExpired(key, isoTime(now))) return null;
    // A limited key doesn't see everything that would be decided.
    const maySee = this.#deps.isLocal && key.disk_prefixes === null;
    const channelId = maySee ? await channelWithoutOwner(project, this.#deps.vault) : null;
    return {
      project,
      actor: key.id,
      scopes: key.scopes,
      diskPrefixes: key.disk_prefixes,
      deciding: channelId === null ? 'not_a_key' : 'anybody',
      channelId,
      member: null,
      name: `key ${key.name}`,
      secretHash: keyHash,
    };
  }

  async #ofMember(address: string, project: Project): Promise<Access | null> {
    const member = await activeMember(project, this.#deps.vault, address);
    if (member === null) return null;
    const { id, role, channel_id: channelId } = member;
    return {
      project,
      actor: channelId ?? id,
      scopes: ROLE_RULES[role].scopes,
      diskPrefixes: null,
      deciding: isDecider(role) ? 'member' : 'not_this_role',
      channelId,
      member: { id, role },
      name: role,
    };
  }
}

/**
 * The caller for the executor and the ledger. For a member, the id of their channel or their own takes the place of a
 * key id; in each case the platform shows that a person acted.
 */
export function callerOf(
  { project, actor, scopes, diskPrefixes, member, secretHash }: Access,
  requestId: string,
): Caller {
  return {
    projectId: project.info.id,
    keyId: actor,
    scopes,
    diskPrefixes,
    agent: {
      label: member?.role ?? null,
      platform: 'web',
      source: 'none',
    },
    requestId,
    idempotencyKey: null,
    ...(member && { member }),
    ...(secretHash !== undefined && { secretHash }),
  };
}
