import { writeTrouble } from '../shared/host/writable.ts';
import type { Logger } from 'pino';
import { claimMode } from '../gateway/lib/data-mode.ts';
import { Gateway, NO_OWNER } from '../gateway/gateway.ts';
import { readSettings, type Settings } from '../gateway/settings.ts';
import type { Admission } from '../shared/admission/admission.ts';
import type { ProjectInfo, ServerInfo } from '../shared/kernel/context.ts';
import type { Damage } from '../shared/store/sums/damage.ts';
import { maskedAddress } from '../shared/rules/mail/mail-address.ts';
import { LOCAL_PROFILE, readCredentials, storeLocalKey } from './credentials.ts';
import type { Home } from './home.ts';
import type { Backend } from './listener.ts';
import type { DiskReport, MessagingStatus } from './record.ts';
import { StartRefusal } from '../shared/host/start-refusal.ts';

export interface LocalOptions {
  readonly home: Home;
  readonly admission: Admission;
  readonly settings: Settings;
  /** The owner's email address; null leaves the owner as it is. */
  readonly owner: string | null;
  readonly urls: ServerInfo['urls'];
  /** Calls per minute for each key; 0 means no limit. */
  readonly ratePerMinute: number;
  readonly log: Logger;
  readonly onFatal: (error: unknown) => void;
  /** Runs transactions in a thread by default; a test can run them in this one. */
  readonly openWriters?: Parameters<typeof Gateway.open>[0]['openWriters'];
}

/** The gateway inside the daemon, with this machine's one project. */
export interface Local {
  readonly project: ProjectInfo;
  readonly fetch: NonNullable<Backend['fetch']>;
  /** Makes an email address the owner's. */
  setOwner(address: string): Promise<void>;
  /** Who gets questions, and through which channels. */
  messaging(): Promise<MessagingStatus>;
  /** Whether the disk has room. */
  disk(): Promise<DiskReport>;
  /** What is known to be damaged in the data folder. */
  damage(): readonly Damage[];
  endWaits(): Promise<void>;
  close(): Promise<void>;
}

/** Reads the settings of local mode. Throws a `StartRefusal` that lists every invalid setting. */
export function readLocalSettings(env: NodeJS.ProcessEnv): Settings {
  const problems: string[] = [];
  const settings = readSettings(env, (problem) => problems.push(problem));
  if (settings) return settings;
  throw new StartRefusal('Some settings are invalid.', 'settings', problems);
}

/** Opens the stores of local mode. The first start creates the project and its key. */
export async function openLocal(options: LocalOptions): Promise<Local> {
  const { home, admission, settings, urls, ratePerMinute, log, onFatal, openWriters } = options;
  const { dataFolder } = home;
  claimMode(dataFolder, 'local');
  const gateway = await Gateway.open({
    dataFolder,
    scrubs: true,
    admission,
    urls,
    ratePerMinute,
    ...settings,
    log,
    onFatal,
    ...(openWriters && { openWriters }),
  });
  const project = await ownedProject(gateway, options).catch(async (error: unknown) => {
    await gateway.close();
    throw error;
  });
  return {
    project,
    fetch: (request, env) => gateway.app.fetch(request, env),
    setOwner: (address) => gateway.setOwner(project.id, address),
    messaging: () => messagingStatus(gateway, project, settings),
    disk: async () => {
      const { level, freeBytes, reserveBytes } = await gateway.diskStatus();
      const trouble = await writeTrouble(dataFolder);
      return {
        level,
        free_bytes: freeBytes,
        reserve_bytes: reserveBytes,
        trouble: trouble && { text: `${trouble.text}.`, cure: trouble.cure },
      };
    },
    damage: () => gateway.damage,
    endWaits: () => gateway.endWaits(),
    close: () => gateway.close(),
  };
}

/** This opens the project's database, so a damaged one fails here. */
async function ownedProject(
  gateway: Gateway,
  { home, owner, log }: LocalOptions,
): Promise<ProjectInfo> {
  const { credentialsFile } = home;
  const project = await localProject(gateway, { credentialsFile, owner, log });
  if (owner !== null || !(await hasOwner(gateway, project))) {
    await gateway.setOwner(project.id, owner ?? NO_OWNER);
  }
  return project;
}

async function channelsOf(gateway: Gateway, { id }: ProjectInfo) {
  const project = await gateway.projects.find(id);
  return project ? project.store.read((store) => store.channels.list()) : [];
}

/** A project from an early release has no owner. */
async function hasOwner(gateway: Gateway, project: ProjectInfo): Promise<boolean> {
  return (await channelsOf(gateway, project)).some(({ owner }) => owner === 1);
}

async function messagingStatus(
  gateway: Gateway,
  project: ProjectInfo,
  { messaging: { mail, telegram } }: Settings,
): Promise<MessagingStatus> {
  const channels = await channelsOf(gateway, project);
  const active = channels.filter(({ status }) => status === 'active');
  const owner = channels.find((channel) => channel.owner === 1)?.masked ?? null;
  return {
    mail: mail.kind,
    // Only this machine's placeholder address masks to this.
    owner: owner === maskedAddress(NO_OWNER) ? null : owner,
    telegram: telegram !== null,
    telegram_trouble: gateway.telegram?.trouble ?? null,
    active_email: active.filter(({ kind }) => kind === 'email').length,
    active_telegram: active.filter(({ kind }) => kind === 'telegram').length,
  };
}

/**
 * The project of the stored key. An interrupted first start leaves no project, or a project without a stored key: this
 * completes both, and nobody ever uses a key that wasn't stored. Whoever runs the machine gets a new key where the stored one
 * has ended, or somebody else has given it a new secret.
 */
async function localProject(
  gateway: Gateway,
  {
    credentialsFile,
    owner,
    log,
  }: Pick<LocalOptions, 'owner' | 'log'> & { credentialsFile: string },
): Promise<ProjectInfo> {
  const projects = await gateway.listProjects();
  const stored = readCredentials(credentialsFile)?.profiles[LOCAL_PROFILE];
  const known = projects.find((project) => project.id === stored?.project);
  if (known && stored && (await gateway.hasKey(known.id, stored.api_key))) return known;
  const project = known ?? projects.find(({ slug }) => slug === 'local') ?? projects[0];
  const made = project
    ? { project, ...(await gateway.createAdminKey(project.id)) }
    : await gateway.createProject({ name: 'local', slug: 'local', owner: owner ?? NO_OWNER });
  if (stored) {
    const why = known ? 'that no longer works' : "whose project isn't here";
    log.warn({ project: stored.project }, `replaced a stored key ${why}`);
  }
  storeLocalKey(credentialsFile, { apiKey: made.apiKey, project: made.project.id });
  log.info({ project: made.project.id, key: made.keyId }, 'stored a key for local mode');
  return made.project;
}
