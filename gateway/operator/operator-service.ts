import { decodeIdCursor, encodeCursor } from '../../shared/lib/cursor.ts';
import { ServiceError } from '../../shared/lib/errors.ts';
import { sendBlocked, sendUse, type SendBlockRecord } from '../../shared/operations/email/quota.ts';
import { maskedAddress } from '../../shared/rules/mail/mail-address.ts';
import type { ListedProject } from '../store/control/accounts.ts';
import type { Projects } from '../projects/projects.ts';
import { Invitations, type InvitationDeps } from './invitations.ts';
import { MigrationService } from './migration-service.ts';
import { namedProject } from './named-project.ts';
import { accountAad } from '../auth/logins.ts';

interface OperatorDeps extends InvitationDeps {
  readonly projects: Projects;
  /** A project couldn't be read. */
  readonly onError: (projectId: string, error: unknown) => void;
}

/** Why and since when (ISO) a project must not send. */
interface Block {
  readonly reason: string;
  readonly since: string;
}

/** A project as shown to the operator. */
interface ProjectLine {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly created_at: string;
  /** `held`: it's read-only. `moved`: it's at another gateway. */
  readonly state: ListedProject['state'];
  readonly moved_to: string | null;
  /** The account's address, masked; null for a project without an account. */
  readonly owner: string | null;
  /** Null if the project's database can't be read or the project has moved. */
  readonly emails: {
    /** Messages requested in this calendar month (UTC). */
    readonly this_month: number;
    /** Null if it may send. */
    readonly blocked: Block | null;
  } | null;
}

interface ProjectPage {
  readonly items: readonly ProjectLine[];
  readonly next_cursor: string | null;
}

/** The result of an order. */
export interface OrderResult {
  readonly project: { readonly id: string; readonly slug: string; readonly name: string };
  readonly blocked: Block | null;
  /** False if nothing changed. */
  readonly changed: boolean;
}

/** What the operator may see of the projects and do with them. */
export class OperatorService {
  readonly moves: MigrationService;
  readonly invitations: Invitations;
  readonly #deps: OperatorDeps;

  constructor(deps: OperatorDeps) {
    this.#deps = deps;
    this.moves = new MigrationService(deps);
    this.invitations = new Invitations(deps);
  }

  /**
   * A page of all projects, oldest first. Opens them one after another, as calls do, so there are never more databases
   * open than usual; an idle one may have to be opened again.
   */
  async list(limit: number, cursor: string | undefined): Promise<ProjectPage> {
    const after = decodeIdCursor(cursor, PROJECT_ID);
    const { accounts } = this.#deps.control;
    const rows = await accounts.listProjects(limit + 1, after === '' ? null : after);
    const shown = rows.slice(0, limit);
    const items: ProjectLine[] = [];
    for (const row of shown) items.push(await this.#line(row));
    const last = rows.length > limit ? shown.at(-1) : undefined;
    return { items, next_cursor: last ? encodeCursor(last.id) : null };
  }

  /**
   * Blocks sending for this reason, which callers see; null lets the project send again. `name` is its slug or id;
   * NOT_FOUND if no project has it.
   */
  async setSendBlock(name: string, reason: string | null): Promise<OrderResult> {
    const { projects, clock } = this.#deps;
    const { id, slug, name: title } = await namedProject(this.#deps.control, name);
    const project = await projects.find(id);
    // This happens only while the gateway is stopping.
    if (!project) throw new ServiceError('UNAVAILABLE', { details: { retry_after: 5 } });
    const order = { reason, now: clock.now() };
    const { blocked, changed } = await project.writes.run('setSendBlock', order);
    return { project: { id, slug, name: title }, blocked: toBlock(blocked), changed };
  }

  /** Deletes a project for good; resolves when nothing is left of it. NOT_FOUND if no project has this slug or id. */
  async deleteProject(name: string): Promise<Pick<OrderResult, 'project' | 'changed'>> {
    const { id, slug, name: title } = await namedProject(this.#deps.control, name);
    await this.#deps.projects.delete(id);
    return { project: { id, slug, name: title }, changed: true };
  }

  async #line(row: ListedProject): Promise<ProjectLine> {
    const { id, slug, name, created_at, state, moved_to } = row;
    const owner = this.#owner(row);
    const emails = state === 'moved' ? null : await this.#emails(id);
    return { id, slug, name, created_at, state, moved_to, owner, emails };
  }

  #owner({ account_id, address }: ListedProject): string | null {
    if (account_id === null || address === null) return null;
    const opened = this.#deps.vault.open(accountAad(account_id), address);
    return maskedAddress(Buffer.from(opened).toString('utf8'));
  }

  /** A damaged project must not hide the others. */
  async #emails(projectId: string): Promise<ProjectLine['emails']> {
    const { projects, clock, onError } = this.#deps;
    try {
      const project = await projects.find(projectId);
      if (!project) return null;
      return await project.store.read(async (store) => ({
        this_month: (await sendUse(store, clock.now())).thisMonth,
        blocked: toBlock(await sendBlocked(store)),
      }));
    } catch (error) {
      onError(projectId, error);
      return null;
    }
  }
}

const PROJECT_ID = /^prj_[0-9a-z]+$/;

function toBlock(blocked: SendBlockRecord | null): Block | null {
  return blocked && { reason: blocked.reason, since: blocked.at };
}
