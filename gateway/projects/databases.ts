import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { unavailable } from '../../shared/lib/errors.ts';
import type { DatabaseLocation } from '../../shared/store/location.ts';

/** The placeholder for a database's name in a URL. */
export const NAME_PLACE = '{project}';
/** The control database's name; it shares a namespace with project databases. */
const CONTROL_NAME = 'svc-control';
const MAKE_DEADLINE_MS = 30_000;

/** The API through which a server creates databases. */
export interface DatabaseMaker {
  /** May contain `{project}`. */
  readonly url: string;
  /** A secret; null if the server needs none. */
  readonly token: string | null;
}

/** A libSQL server that holds all databases. */
export interface RemoteStore {
  /** Has `{project}` in place of the database's name. */
  readonly url: string;
  /** A secret; null if the server needs none. */
  readonly token: string | null;
  /** Null if the server creates a database on first use. */
  readonly maker: DatabaseMaker | null;
}

/**
 * Locates a gateway's databases: files in its data folder, or databases on a libSQL server that other gateways use
 * too.
 */
export class Databases {
  readonly #dataFolder: string;
  readonly #remote: RemoteStore | null;

  constructor(dataFolder: string, remote: RemoteStore | null) {
    this.#dataFolder = dataFolder;
    this.#remote = remote;
  }

  /** Other gateways may read and write them at any time, so earlier reads may be stale. */
  get shared(): boolean {
    return this.#remote !== null;
  }

  /** Shows whether two gateways have the same databases without revealing the URL, which may contain a secret. */
  get fingerprint(): string {
    const at = this.#remote ? `server ${this.#remote.url}` : 'folder';
    return createHash('sha256').update(at).digest('hex').slice(0, 16);
  }

  get control(): DatabaseLocation {
    return this.#remote
      ? remoteLocation(this.#remote, CONTROL_NAME)
      : { kind: 'file', path: join(this.#dataFolder, 'control.db') };
  }

  ofProject(projectId: string): DatabaseLocation {
    return this.#remote
      ? remoteLocation(this.#remote, databaseName(projectId))
      : { kind: 'file', path: join(this.#dataFolder, 'projects', projectId, 'project.db') };
  }

  /** Creates the control database if the server doesn't create it on first use. */
  async makeControl(): Promise<void> {
    await this.#make(CONTROL_NAME);
  }

  /**
   * Creates a new project's database if the server doesn't create it on first use. Throws UNAVAILABLE if that fails.
   */
  async makeProject(projectId: string): Promise<void> {
    await this.#make(databaseName(projectId));
  }

  async #make(name: string): Promise<void> {
    const maker = this.#remote?.maker;
    if (!maker) return;
    const response = await ask(maker, name);
    const text = await response.text();
    const isThere = response.status === 409 || (response.status === 400 && /exist/i.test(text));
    if (response.ok || isThere) return;
    throw unavailable(
      5,
      new Error(`SVC_DATABASE_CREATE_URL answered ${response.status} for the database ${name}.`),
    );
  }
}

/** The request fits both sqld's admin API and Turso's platform API: each ignores the fields of the other. */
async function ask({ url, token }: DatabaseMaker, name: string): Promise<Response> {
  try {
    return await fetch(url.replaceAll(NAME_PLACE, name), {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(token !== null && { Authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ name, group: 'default' }),
      redirect: 'error',
      signal: AbortSignal.timeout(MAKE_DEADLINE_MS),
    });
  } catch (error) {
    throw unavailable(5, error);
  }
}

/** Returns a name that can be part of a host name: `prj-0123456789abcdef`. */
function databaseName(projectId: string): string {
  return projectId.replace('_', '-');
}

function remoteLocation({ url, token }: RemoteStore, name: string): DatabaseLocation {
  return { kind: 'remote', url: url.replaceAll(NAME_PLACE, name), token };
}
