import type { Logger } from 'pino';
import { readBlobsConfig } from '../gateway/blobs/blobs-config.ts';
import { Gateway } from '../gateway/gateway.ts';
import type { ProjectInfo, ServerInfo } from '../shared/context.ts';
import { LOCAL_PROFILE, readCredentials, storeLocalKey } from './credentials.ts';
import type { Home } from './home.ts';
import type { Backend } from './listener.ts';

interface LocalOptions {
  readonly home: Home;
  readonly urls: ServerInfo['urls'];
  /** Calls a minute and key; 0 is no limit. */
  readonly ratePerMinute: number;
  readonly log: Logger;
  readonly onFatal: (error: unknown) => void;
}

/** The authority inside the daemon, with the one project of this machine. */
export interface Local {
  readonly project: ProjectInfo;
  readonly fetch: NonNullable<Backend['fetch']>;
  endWaits(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the stores of local mode, and on the first start makes the project and its key. */
export async function openLocal(options: LocalOptions): Promise<Local> {
  const { home, urls, ratePerMinute, log, onFatal } = options;
  const gateway = await Gateway.open({
    dataFolder: home.dataFolder,
    urls,
    ratePerMinute,
    blobs: readBlobsConfig(process.env),
    log,
    onFatal,
  });
  const project = await localProject(gateway, home.credentialsFile, log);
  return {
    project,
    fetch: (request, env) => gateway.app.fetch(request, env),
    endWaits: () => gateway.endWaits(),
    close: () => gateway.close(),
  };
}

/**
 * The project of the stored key. A start that was cut short left a project without a stored key, or
 * nothing: either is finished here, and a key that was made but not stored is never used.
 */
async function localProject(
  gateway: Gateway,
  credentialsFile: string,
  log: Logger,
): Promise<ProjectInfo> {
  const projects = await gateway.listProjects();
  const stored = readCredentials(credentialsFile)?.profiles[LOCAL_PROFILE];
  const known = projects.find((project) => project.id === stored?.project);
  if (known) return known;
  const project = projects.find(({ slug }) => slug === 'local') ?? projects[0];
  const made = project
    ? { project, ...(await gateway.createAdminKey(project.id)) }
    : await gateway.createProject({ name: 'local', slug: 'local' });
  if (stored) log.warn({ project: stored.project }, 'the stored key had no project here; replaced');
  storeLocalKey(credentialsFile, { apiKey: made.apiKey, project: made.project.id });
  log.info({ project: made.project.id, key: made.keyId }, 'stored a key for local mode');
  return made.project;
}
