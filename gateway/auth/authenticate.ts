import { callerWith, findKey, presentedKey } from '../../shared/kernel/authentication.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import type { Caller } from '../../shared/kernel/context.ts';
import { ServiceError } from '../../shared/lib/errors.ts';
import type { Credentials } from '../../shared/kernel/executor.ts';
import type { KeyUse } from './key-use.ts';
import type { Project } from '../projects/project.ts';
import type { Projects } from '../projects/projects.ts';

/** The caller, its project, and when its key expires. */
export interface KnownCaller {
  readonly caller: Caller;
  readonly project: Project;
  /** When the secret or its key expires, an ISO time; null if neither ever does. */
  readonly expiresAt: string | null;
}

/** Checks keys: the checksum rejects junk, then the project that the key names looks up the hash. */
export class Authenticator {
  readonly #projects: Projects;
  readonly #clock: Clock;
  readonly #keyUse: KeyUse;

  constructor(deps: { projects: Projects; clock: Clock; keyUse: KeyUse }) {
    this.#projects = deps.projects;
    this.#clock = deps.clock;
    this.#keyUse = deps.keyUse;
  }

  /** UNAUTHENTICATED or KEY_REVOKED, see `callerWith`. */
  async check(credentials: Credentials): Promise<Caller> {
    const known = await this.identify(credentials);
    this.note(known);
    return known.caller;
  }

  /**
   * Like `check`, but doesn't record the use of the key. For callers that check after every commit, because a record
   * is a commit too.
   */
  async identify(credentials: Credentials): Promise<KnownCaller> {
    const { projectId, hash } = presentedKey(credentials);
    const project = await this.#projects.find(projectId);
    if (!project) throw new ServiceError('UNAUTHENTICATED');
    const now = this.#clock.now();
    const found = await findKey(project, hash, now);
    const caller = callerWith(found, { projectId: project.info.id, credentials, now });
    const expiresAt = found.key?.secret_expires_at ?? found.key?.expires_at ?? null;
    return { caller, project, expiresAt };
  }

  note({ caller, project }: KnownCaller): void {
    this.#keyUse.note(project, caller.keyId, this.#clock.now());
  }
}
