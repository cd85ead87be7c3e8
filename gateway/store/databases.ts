import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { unavailable } from '../../shared/lib/errors.ts';
import { isObject, parseObject } from '../../shared/lib/guards.ts';
import type { DatabaseLocation } from '../../shared/store/engine/location.ts';

/** The placeholder for a database's name in a URL. */
export const NAME_PLACE = '{project}';
/** The control database's name; it shares a namespace with project databases. */
const CONTROL_NAME = 'svc-control';
/** The folder of its mirror, among those of projects. */
export const CONTROL_FOLDER = 'control';
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

  /** They are on a server, where other gateways may use them too; otherwise they are files. */
  get onServer(): boolean {
    return this.#remote !== null;
  }

  /** Shows whether two gateways have the same databases without revealing the URL, which may contain a secret. */
  get fingerprint(): string {
    const at = this.#remote ? `server ${this.#remote.url}` : 'folder';
    return createHash('sha256').update(at).digest('hex').slice(0, 16);
  }

  /** The folder of the mirrors. */
  get mirrors(): string {
    return join(this.#dataFolder, 'mirrors');
  }

  /** The server's host and port, for messages; a URL may contain a secret. */
  get serverHost(): string {
    return this.#remote ? new URL(this.#remote.url.replaceAll(NAME_PLACE, CONTROL_NAME)).host : '';
  }

  get control(): DatabaseLocation {
    return this.#remote
      ? this.#onServer(this.#remote, CONTROL_NAME, join(CONTROL_FOLDER, 'control.db'))
      : { kind: 'file', path: join(this.#dataFolder, 'control.db') };
  }

  ofProject(projectId: string): DatabaseLocation {
    return this.#remote
      ? this.#onServer(this.#remote, databaseName(projectId), join(projectId, 'project.db'))
      : { kind: 'file', path: join(this.#dataFolder, 'projects', projectId, 'project.db') };
  }

  /** Mirrors are apart from databases that exist nowhere else, because a mirror is deleted when it's in doubt. */
  #onServer({ url, token }: RemoteStore, name: string, mirror: string): DatabaseLocation {
    return {
      kind: 'remote',
      url: url.replaceAll(NAME_PLACE, name),
      token,
      mirror: join(this.mirrors, mirror),
    };
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
    if (response.ok) this.#refuseOtherHost(name, text);
    if (response.ok || isThere) return;
    throw unavailable(
      5,
      new Error(`SVC_DATABASE_CREATE_URL answered ${response.status} for the database ${name}.`),
    );
  }

  /** Turso answers with the new database's host name. */
  #refuseOtherHost(name: string, answer: string): void {
    const database = parseObject(answer)?.['database'];
    const made = isObject(database) ? database['Hostname'] : undefined;
    if (typeof made !== 'string' || !this.#remote) return;
    const { hostname } = new URL(this.#remote.url.replaceAll(NAME_PLACE, name));
    if (made.toLowerCase() === hostname.toLowerCase()) return;
    throw unavailable(
      5,
      new Error(
        `SVC_DATABASE_CREATE_URL made the database ${made}, but SVC_DATABASE_URL leads to ${hostname}.`,
      ),
    );
  }
}

/** How long a server lets a transaction wait for its client while others want to write, in seconds. */
const TRANSACTION_SECONDS = 5;

/**
 * The request fits both sqld's admin API and Turso's platform API: each ignores the fields of the other. By default sqld
 * answers before a commit is on the disk.
 */
async function ask({ url, token }: DatabaseMaker, name: string): Promise<Response> {
  try {
    return await fetch(url.replaceAll(NAME_PLACE, name), {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(token !== null && { Authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({
        name,
        group: 'default',
        durability_mode: 'strong',
        txn_timeout_s: TRANSACTION_SECONDS,
      }),
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
