import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { unavailable } from '../../shared/lib/errors.ts';
import type { DatabaseLocation } from '../../shared/store/location.ts';

/** What stands for the name of a database in an address. */
export const NAME_PLACE = '{project}';
/** The name of the control database, among those of projects. */
const CONTROL_NAME = 'svc-control';
const MAKE_DEADLINE_MS = 30_000;

/** Where a server makes databases. */
export interface DatabaseMaker {
  /** May hold `{project}`. */
  readonly url: string;
  /** A secret; null where the server asks for none. */
  readonly token: string | null;
}

/** A libSQL server that keeps all databases. */
export interface RemoteStore {
  /** With `{project}` where the name of a database stands. */
  readonly url: string;
  /** A secret; null where the server asks for none. */
  readonly token: string | null;
  /** Null where databases come to be by their first use. */
  readonly maker: DatabaseMaker | null;
}

/** Where the databases of a gateway are: files in its data folder, or on a libSQL server that other gateways use as well. */
export class Databases {
  readonly #dataFolder: string;
  readonly #remote: RemoteStore | null;

  constructor(dataFolder: string, remote: RemoteStore | null) {
    this.#dataFolder = dataFolder;
    this.#remote = remote;
  }

  /** Others may read and write them at any time, so what was read before says nothing of now. */
  get shared(): boolean {
    return this.#remote !== null;
  }

  /** Tells whether two have the same databases, and not where: an address may hold a secret. */
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

  /** Has the control database made, where the server makes none by itself. */
  async makeControl(): Promise<void> {
    await this.#make(CONTROL_NAME);
  }

  /** Has the database of a new project made, where the server makes none by itself. UNAVAILABLE when that fails. */
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

/** In the words of sqld's admin API and of Turso's platform API: what one of them does not know it leaves alone. */
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

/** A name that may be part of a host name: `prj-0123456789abcdef`. */
function databaseName(projectId: string): string {
  return projectId.replace('_', '-');
}

function remoteLocation({ url, token }: RemoteStore, name: string): DatabaseLocation {
  return { kind: 'remote', url: url.replaceAll(NAME_PLACE, name), token };
}
