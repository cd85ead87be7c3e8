import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Hono } from 'hono';
import type { HttpEnv } from '../shared/api/http.ts';
import type { ProjectInfo } from '../shared/kernel/context.ts';
import type { Executor } from '../shared/kernel/executor.ts';
import { isExpired } from '../shared/kernel/authentication.ts';
import { isoTime } from '../shared/lib/clock.ts';
import { hashApiKey, last4, newApiKey, newId } from '../shared/lib/ids.ts';
import type { ApprovalService } from './approvals/approvals.ts';
import { formerFilesWarning } from './blobs/former-files.ts';
import { NO_OWNER } from './approvals/no-owner.ts';
import { logPath } from '../shared/store/log/wal.ts';
import type { Damage } from '../shared/store/sums/damage.ts';
import type { BotHealth } from './compose-messaging.ts';
import type { Gauges } from './lib/metrics.ts';
import { DISK_LEVELS, type DiskStatus } from './projects/limits/disk-space.ts';
import type { OperatorService } from './operator/operator-service.ts';
import type { Projects } from './projects/projects.ts';
import type { GatewayOptions } from './options.ts';
import { Scrubber } from './scrub/scrubber.ts';
import { assemble, type Components } from './compose.ts';

/** A key and its secret, which is shown only once. */
export interface IssuedKey {
  readonly keyId: string;
  readonly apiKey: string;
}

/** The gateway: owns the projects, runs operations on them, and serves their routes. */
export class Gateway {
  readonly #deps: Components;
  readonly #scrubber: Scrubber;

  private constructor(deps: Components, { dataFolder, log }: GatewayOptions) {
    this.#deps = deps;
    const { clock, damage } = deps;
    this.#scrubber = new Scrubber({ dataFolder, damage, now: () => clock.now(), log });
  }

  static async open(options: GatewayOptions): Promise<Gateway> {
    const hasCrashed = hasCrashedIn(options.dataFolder);
    const gateway = new Gateway(await assemble(options), options);
    try {
      await gateway.#start();
      if (options.scrubs) gateway.#scrubber.start(hasCrashed);
      await gateway.#warnOfFormerFiles(options);
    } catch (error) {
      await gateway.#deps.writers.close();
      throw error;
    }
    return gateway;
  }

  async #start(): Promise<void> {
    const { coordination, disk, projects, signIn, staleMirrors } = this.#deps;
    await disk.refresh();
    await coordination.start(projects);
    await signIn?.start();
    await staleMirrors.start();
    await projects.start();
    await coordination.ready();
  }

  /** No start fails because of it. */
  async #warnOfFormerFiles({ log, ...settings }: GatewayOptions): Promise<void> {
    try {
      const warning = await formerFilesWarning(settings, this.#deps.control);
      if (warning !== null) log.warn({ setting: 'SVC_BLOBS' }, warning);
    } catch (error) {
      log.error({ err: error }, 'the place of the files was not noted');
    }
  }

  /** The app that answers all HTTP requests. */
  get app(): Hono<HttpEnv> {
    return this.#deps.app;
  }

  get executor(): Executor {
    return this.#deps.executor;
  }

  /** Takes people's decisions. */
  get approvals(): ApprovalService {
    return this.#deps.approvals;
  }

  /** Whether the next person to sign in gets an account only because nobody has one yet. */
  async isVacant(): Promise<boolean> {
    return (await this.#deps.signIn?.isVacant()) ?? false;
  }

  /** Takes the operator's commands. */
  get operator(): OperatorService {
    return this.#deps.operator;
  }

  get projects(): Projects {
    return this.#deps.projects;
  }

  listProjects(): Promise<ProjectInfo[]> {
    return this.#deps.projects.list();
  }

  /** Creates a project with a first key that has every scope, and with its owner as the first approver. */
  async createProject(wanted: {
    name: string;
    slug: string;
    owner?: string;
  }): Promise<{ project: ProjectInfo } & IssuedKey> {
    const project = await this.#deps.projects.create(wanted);
    await this.setOwner(project.info.id, wanted.owner ?? NO_OWNER);
    return { project: project.info, ...(await this.createAdminKey(project.info.id)) };
  }

  /** Makes an email address the owner's: its person runs the machine, or has confirmed it by signing in. */
  async setOwner(projectId: string, address: string): Promise<void> {
    const project = await this.#deps.projects.find(projectId);
    if (!project) throw new Error(`There is no project ${projectId}.`);
    const now = this.#deps.clock.now();
    await project.writes.run('setOwner', { channelId: newId('chn', now), address, now });
  }

  /** Whether a key of the project works, also by the secret that it had until a moment ago. */
  async hasKey(projectId: string, apiKey: string): Promise<boolean> {
    const project = await this.#deps.projects.find(projectId);
    const nowIso = isoTime(this.#deps.clock.now());
    const found = await project?.store.read(({ keys }) => keys.present(hashApiKey(apiKey), nowIso));
    return found?.key?.revoked_at === null && !isExpired(found.key, nowIso);
  }

  /**
   * Creates another key with every scope for the owner of the machine, who has the data anyway. It ignores
   * ACTIVE_KEYS_MAX, so that the owner gets back in after losing every key, even at the limit.
   */
  async createAdminKey(projectId: string): Promise<IssuedKey> {
    const project = await this.#deps.projects.find(projectId);
    if (!project) throw new Error(`There is no project ${projectId}.`);
    const now = this.#deps.clock.now();
    const apiKey = newApiKey(projectId);
    const keyId = newId('key', now);
    const secret = { hash: hashApiKey(apiKey), last4: last4(apiKey) };
    await project.writes.run('adminKey', { id: keyId, ...secret, now });
    return { keyId, apiKey };
  }

  /** The current counts. */
  get gauges(): Gauges {
    const { disk, mail, messaging, projects, writers } = this.#deps;
    const mailbox = mail.status;
    return {
      ...projects.gauges,
      writes: writers.waiting ?? 0,
      mailbox: mailbox?.connected ? 1 : 0,
      mailboxBacklog: mailbox?.backlog ?? 0,
      telegram: messaging.telegram?.trouble === null ? 1 : 0,
      diskFree: disk.status.freeBytes,
      damaged: this.damage.length,
      diskLevel: DISK_LEVELS.indexOf(disk.status.level),
    };
  }

  /** How much room the disk has. */
  diskStatus(): Promise<DiskStatus> {
    return this.#deps.disk.fresh();
  }

  /** What is known to be damaged in the data folder. */
  get damage(): readonly Damage[] {
    return this.#deps.damage.list();
  }

  /** Whether the database server has been silent for seconds; null if the databases are files. */
  get isServerSilent(): boolean | null {
    return this.#deps.coordination.isServerSilent;
  }

  /** Null without a Telegram bot. */
  get telegram(): BotHealth | null {
    return this.#deps.messaging.telegram;
  }

  /** Ends every wait as if it had timed out, so that the server can finish its connections. */
  endWaits(): Promise<void> {
    return this.#deps.projects.endWaits();
  }

  async close(): Promise<void> {
    const {
      bucket,
      callbacks,
      clock,
      control,
      coordination,
      keyUse,
      mail,
      messaging,
      noting,
      projects,
      staleMirrors,
      writers,
    } = this.#deps;
    staleMirrors.close();
    this.#scrubber.close();
    await projects.endWaits();
    // A task may just be opening the mailbox; one that waits for Telegram ends with the bot.
    const tasks = coordination.endTasks().then(() => mail.close());
    await Promise.all([tasks, callbacks.close(), messaging.close(), noting?.stop()]);
    await keyUse.flush(clock.now());
    await projects.close();
    await writers.close();
    await coordination.close();
    await control.close();
    bucket?.close();
  }
}

/** A process that closes its files leaves nothing in the log. */
function hasCrashedIn(dataFolder: string): boolean {
  const log = statSync(logPath(join(dataFolder, 'control.db')), { throwIfNoEntry: false });
  return log !== undefined && log.size > 0;
}

export { NO_OWNER };
