import { setTimeout as sleep } from 'node:timers/promises';
import { hash } from 'node:crypto';
import type * as z from 'zod';
import type { keyAnswer, keyInput, projectAnswer, projectInput } from '../../shared/api/sign-in.ts';
import { isoTime, type Clock } from '../../shared/lib/clock.ts';
import type { ServerInfo, Vault } from '../../shared/kernel/context.ts';
import { invalid, ServiceError, stillRunning } from '../../shared/lib/errors.ts';
import { hashApiKey, last4, newApiKey, newId, newProjectId } from '../../shared/lib/ids.ts';
import { PROJECTS_PER_ACCOUNT } from '../../shared/lib/limits.ts';
import { MakerNames } from '../../shared/operations/access/maker.ts';
import { toChannelView } from '../../shared/operations/channel/view.ts';
import { canonicalJson } from '../../shared/rules/canonical-json.ts';
import { isReservedSlug, slugsFor } from '../../shared/rules/slug.ts';
import { FULL_SCOPES, type Scope } from '../../shared/lib/scopes.ts';
import { isAllowed, type SignUpRule } from './sign-up.ts';
import type { ControlStore } from '../store/control-store.ts';
import type { AccountRow, OwnedProject } from '../store/control/accounts.ts';
import type { LoginUse } from '../store/control/login-rows.ts';
import type { Project } from '../projects/project.ts';
import type { Projects } from '../projects/projects.ts';
import { accountAad, hashOf, loginError, loginAad } from './logins.ts';

export interface ProjectSetupDeps {
  readonly control: ControlStore;
  readonly projects: Projects;
  readonly clock: Clock;
  readonly vault: Vault;
  readonly server: ServerInfo;
  readonly signUp: SignUpRule;
  /** Slugs that the service itself uses as addresses. */
  readonly ownNames: readonly string[];
  /** Whether another gateway of the same store is alive. */
  readonly areOthersAlive: () => boolean;
  /** Gets the error if an unfinished earlier attempt can't be finished now. */
  readonly onError: (error: unknown) => void;
}

type ProjectAnswer = z.output<typeof projectAnswer>;
type KeyAnswer = z.output<typeof keyAnswer>;

/** How long a call waits for the same call at a living gateway: the proxy in front gives up after 15 s. */
const ANSWERED_WITHIN_MS = 12_000;
const LOOK_AGAIN_MS = 100;

/** An answer, and whether an earlier call under the same Idempotency-Key got it first. */
interface OnceResult<T> {
  readonly value: T;
  readonly replayed: boolean;
}

function replayOf<T>(kept: string): OnceResult<T> {
  return { value: JSON.parse(kept) as T, replayed: true };
}

/**
 * Turns confirmed sign-ins into a project with its first key, or into a key of a project. One transaction in the
 * control database uses the sign-in and reserves the project; then the project is created and confirmed there. After
 * a crash, `finish` completes the project without a key; the person signs in again, finds the project and gets a key.
 */
export class ProjectSetup {
  readonly #deps: ProjectSetupDeps;
  /** Projects that this process is creating. */
  readonly #making = new Set<string>();
  /** Running uses with an Idempotency-Key. */
  readonly #running = new Set<string>();

  constructor(deps: ProjectSetupDeps) {
    this.#deps = deps;
  }

  /** Returns the projects of an account, after it has finished any half-made one. */
  async projectsOf(accountId: string): Promise<OwnedProject[]> {
    // A failure here must not block the other projects.
    await this.finish(accountId).catch((error: unknown) => this.#deps.onError(error));
    return this.#deps.control.accounts.projectsOf(accountId);
  }

  /**
   * Creates a project and its first key. LOGIN_NOT_VERIFIED, LOGIN_EXPIRED, LOGIN_CONSUMED, SLUG_TAKEN,
   * PROJECT_LIMIT_REACHED.
   */
  createProject(
    input: z.output<typeof projectInput>,
    idempotencyKey: string | null,
  ): Promise<OnceResult<ProjectAnswer>> {
    const use = this.#useOf('project', input, idempotencyKey);
    return this.#once(use, () => this.#createProject(use, input));
  }

  /** Creates a key of a project. LOGIN_NOT_VERIFIED, LOGIN_EXPIRED, LOGIN_CONSUMED, NOT_FOUND, KEY_LIMIT_REACHED. */
  createKey(
    input: z.output<typeof keyInput>,
    idempotencyKey: string | null,
  ): Promise<OnceResult<KeyAnswer>> {
    const use = this.#useOf('key', input, idempotencyKey);
    return this.#once(use, () => this.#createKey(use, input));
  }

  /** Finishes reserved projects that nobody confirmed, of one account or of all. */
  async finish(accountId: string | null = null): Promise<void> {
    const { control } = this.#deps;
    for (const { id, account_id, address } of await control.accounts.unfinished(accountId)) {
      if (this.#making.has(id)) continue;
      await this.#found(id, { id: account_id, address }, null);
      await control.accounts.confirmProject(id, null);
    }
  }

  async #createProject(
    use: LoginUse,
    { name, slug, key_name }: z.output<typeof projectInput>,
  ): Promise<ProjectAnswer> {
    const { control, server, signUp, vault } = this.#deps;
    const { ownNames } = this.#deps;
    const isOurs = (one: string): boolean => isReservedSlug(one) || ownNames.includes(one);
    if (slug !== undefined && isOurs(slug)) throw new ServiceError('SLUG_TAKEN');
    const id = newProjectId();
    const createdAt = isoTime(use.now);
    this.#making.add(id);
    try {
      const reserved = await control.accounts.reserveProject(use, {
        id,
        name,
        // The end of an id is random enough to end a slug.
        slugs:
          slug === undefined ? slugsFor(name, id.slice(-8)).filter((one) => !isOurs(one)) : [slug],
        createdAt,
        projectsMax: PROJECTS_PER_ACCOUNT,
        isAllowed: (account) => isAllowed(signUp, addressIn(vault, account)),
      });
      if (reserved.outcome === 'refused') throw loginError(reserved.state);
      if (reserved.outcome === 'guest') throw guestRefused();
      if (reserved.outcome !== 'reserved') throw new ServiceError(REFUSALS[reserved.outcome]);
      const { account } = reserved;
      const made = newKey(
        id,
        { name: key_name, scopes: FULL_SCOPES, accountId: account.id },
        use.now,
      );
      const project = await this.#found(id, account, made.key);
      const channel = await project.store.read(async (store) => {
        const owner = await store.channels.owner();
        return owner && toChannelView(owner, new MakerNames({ store, server }));
      });
      if (!channel) throw new Error('The project just made has no owner.');
      const answer = {
        project: { id, slug: reserved.slug, name, created_at: createdAt },
        ...shown(made, use.now),
        channel,
        urls: server.urls,
      };
      await control.accounts.confirmProject(id, this.#sealed(use, answer));
      return answer;
    } finally {
      this.#making.delete(id);
    }
  }

  /** Opens a project, which creates its database, and sets it up. Safe to repeat. */
  async #found(
    id: string,
    account: Pick<AccountRow, 'id' | 'address'>,
    key: NewKey | null,
  ): Promise<Project> {
    const { clock, projects, vault } = this.#deps;
    const project = await projects.find(id);
    if (!project) throw new Error('A reserved project is not there.');
    const now = clock.now();
    const address = addressIn(vault, account);
    const owner = { channelId: newId('chn', now), address, accountId: account.id };
    await project.writes.run('foundProject', { ...owner, key, now });
    return project;
  }

  async #createKey(
    use: LoginUse,
    { project_id, scopes, key_name }: z.output<typeof keyInput>,
  ): Promise<KeyAnswer> {
    const { control, projects, server } = this.#deps;
    const { logins } = control;
    const taken = await logins.useFor(use, project_id);
    if (taken.outcome === 'no_project') throw new ServiceError('NOT_FOUND');
    if (taken.outcome === 'refused') throw loginError(taken.state);
    const record = await control.findProject(project_id);
    const project = await projects.find(project_id);
    if (!record || !project) {
      await logins.giveBack(use.idHash);
      throw new ServiceError('NOT_FOUND');
    }
    // The project is being moved, so the write below will fail with the reason.
    if (!project.isWritable) await logins.giveBack(use.idHash);
    const wanted = { name: key_name, scopes: [...new Set(scopes)], accountId: taken.accountId };
    const made = newKey(project_id, wanted, use.now);
    const address = await this.#addressOf(taken.accountId);
    const result = await project.writes.run('signInKey', { ...made.key, address, now: use.now });
    if (result.outcome !== 'made') {
      await logins.giveBack(use.idHash);
      throw keyRefused(result.outcome);
    }
    const { id, slug, name, created_at } = record;
    const answer = {
      project: { id, slug, name, created_at },
      ...shown({ ...made, key: { ...made.key, scopes: result.scopes } }, use.now),
      urls: server.urls,
    };
    const kept = this.#sealed(use, answer);
    if (kept) await logins.keepAnswer(kept.idHash, kept.answer);
    return answer;
  }

  async #addressOf(accountId: string): Promise<string> {
    const account = await this.#deps.control.accounts.find(accountId);
    if (!account) throw new Error('A confirmed sign-in has no account.');
    return addressIn(this.#deps.vault, account);
  }

  #useOf(
    kind: 'project' | 'key',
    input: { readonly login_id: string },
    idempotencyKey: string | null,
  ): LoginUse {
    const text = canonicalJson([kind, idempotencyKey, input]);
    return {
      idHash: hashOf(input.login_id),
      repeatHash: idempotencyKey === null ? null : hash('sha256', text),
      now: this.#deps.clock.now(),
    };
  }

  /** A repeat with the same Idempotency-Key gets the same answer until the sign-in expires. */
  async #once<T>(use: LoginUse, run: () => Promise<T>): Promise<OnceResult<T>> {
    const { repeatHash } = use;
    if (repeatHash === null) return { value: await run(), replayed: false };
    if (this.#running.has(repeatHash)) throw stillRunning();
    this.#running.add(repeatHash);
    try {
      const kept = await this.#storedResponse(use, repeatHash);
      return kept === null ? { value: await run(), replayed: false } : replayOf<T>(kept);
    } catch (error) {
      const isUsed = error instanceof ServiceError && error.code === 'LOGIN_CONSUMED';
      const kept = isUsed ? await this.#answerOfOther(use, repeatHash) : null;
      if (kept === null) throw error;
      return replayOf<T>(kept);
    } finally {
      this.#running.delete(repeatHash);
    }
  }

  /**
   * Another gateway may be running the same call: waits for its answer while any of them is alive, however slow it is.
   * Null if none is, the call failed there, or it takes too long.
   */
  async #answerOfOther(use: LoginUse, repeatHash: string): Promise<string | null> {
    const { areOthersAlive, control } = this.#deps;
    const endsAt = performance.now() + ANSWERED_WITHIN_MS;
    for (;;) {
      // Ask this first: the gateway may store the answer and stop in between.
      const isWaiting = areOthersAlive() && performance.now() <= endsAt;
      const login = await control.logins.find(use.idHash);
      const kept = await this.#storedResponse(use, repeatHash);
      if (kept !== null || !isWaiting || login?.repeat_hash !== repeatHash) return kept;
      await sleep(LOOK_AGAIN_MS);
    }
  }

  async #storedResponse({ idHash, now }: LoginUse, repeatHash: string): Promise<string | null> {
    const { control, vault } = this.#deps;
    const login = await control.logins.find(idHash);
    if (!login?.answer || login.repeat_hash !== repeatHash || login.expires_at <= now) return null;
    const opened = vault.open(loginAad(idHash, 'answer'), login.answer);
    return Buffer.from(opened).toString('utf8');
  }

  /** Sealed, because the answer holds the secret of a key. */
  #sealed(
    { idHash, repeatHash }: LoginUse,
    answer: unknown,
  ): { readonly idHash: string; readonly answer: Uint8Array } | null {
    if (repeatHash === null) return null;
    const text = JSON.stringify(answer);
    return { idHash, answer: this.#deps.vault.seal(loginAad(idHash, 'answer'), text) };
  }
}

const REFUSALS = { limit_reached: 'PROJECT_LIMIT_REACHED', slug_taken: 'SLUG_TAKEN' } as const;

function addressIn(vault: Vault, { id, address }: Pick<AccountRow, 'id' | 'address'>): string {
  return Buffer.from(vault.open(accountAad(id), address)).toString('utf8');
}

/** Sign-up is closed to them: sharing somebody's project doesn't entitle them to their own. */
function guestRefused(): ServiceError {
  return new ServiceError('PROJECT_LIMIT_REACHED', {
    details: { limit: 0 },
    hint: 'You joined by an invitation to a project. To create your own, ask whoever runs this gateway to invite you: svc gateway invite EMAIL.',
  });
}

function keyRefused(why: 'full' | 'no_member' | 'nothing_left'): ServiceError {
  if (why === 'full') return new ServiceError('KEY_LIMIT_REACHED');
  if (why === 'no_member') return new ServiceError('NOT_FOUND');
  return invalid({ path: 'scopes', message: 'Your role in this project may have none of these.' });
}

interface WantedKey {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly accountId: string;
}

interface NewKey extends WantedKey {
  readonly id: string;
  readonly hash: string;
  readonly last4: string;
}

function newKey(
  projectId: string,
  wanted: WantedKey,
  now: number,
): { key: NewKey; secret: string } {
  const secret = newApiKey(projectId);
  const key = { id: newId('key', now), ...wanted, hash: hashApiKey(secret), last4: last4(secret) };
  return { key, secret };
}

function shown({ key, secret }: ReturnType<typeof newKey>, now: number) {
  const { id, name, scopes } = key;
  return { key: { id, name, scopes: [...scopes], created_at: isoTime(now) }, api_key: secret };
}
