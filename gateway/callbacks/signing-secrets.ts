import type { ProjectInfo, Vault } from '../../shared/kernel/context.ts';
import { callbackSecretAad } from '../../shared/operations/request/callback-secret.ts';
import { routeAad } from '../../shared/operations/route/view.ts';
import type { VersionedCache } from '../../shared/lib/versioned-cache.ts';
import type { ProjectReader } from '../../shared/store/project-store.ts';
import type { Repositories } from '../../shared/store/repositories.ts';

interface SigningProject {
  readonly info: ProjectInfo;
  readonly store: ProjectReader;
  newCache<T>(): VersionedCache<T>;
}

/** Secrets with the time until which each signs; null means without end. */
type CachedSecret = readonly { readonly secret: string; readonly until: number | null }[];

/**
 * The secrets that sign a project's callbacks: unsealed once and read again after a change, or each time if
 * others may change them unnoticed.
 */
export class SigningSecrets {
  readonly #project: SigningProject;
  readonly #vault: Vault;
  /** By route, or without a name for requests; null for a closed route. */
  readonly #cache: VersionedCache<CachedSecret | null>;

  constructor(project: SigningProject, vault: Vault) {
    this.#project = project;
    this.#vault = vault;
    this.#cache = project.newCache();
  }

  forget(): void {
    this.#cache.clear();
  }

  /** The secrets of a route, or those for requests if none is given; null if the route has closed. */
  async of(routeId: string | null, now: number): Promise<readonly string[] | null> {
    const cached = this.#cache.get(routeId ?? '') ?? (await this.#read(routeId));
    if (cached === null) return null;
    return cached.filter(({ until }) => until === null || until > now).map(({ secret }) => secret);
  }

  async #read(routeId: string | null): Promise<CachedSecret | null> {
    const { version } = this.#cache;
    const read = await this.#project.store.read((store) =>
      routeId === null ? this.#ofRequests(store) : this.#ofRoute(store, routeId),
    );
    this.#cache.set(routeId ?? '', read, version);
    return read;
  }

  async #ofRoute(store: Repositories, id: string): Promise<CachedSecret | null> {
    const route = await store.routes.find(id);
    if (!route?.secret || route.enabled === 0) return null;
    const aad = routeAad(this.#project.info.id, id);
    return [{ secret: this.#open(aad, route.secret), until: null }];
  }

  async #ofRequests(store: Repositories): Promise<CachedSecret | null> {
    const row = await store.callbackSecret.get();
    if (!row) return [];
    const aad = callbackSecretAad(this.#project.info.id);
    const newest = { secret: this.#open(aad, row.secret), until: null };
    if (row.previous === null) return [newest];
    const previous = { secret: this.#open(aad, row.previous), until: row.previous_valid_until };
    return [newest, previous];
  }

  #open(aad: string, sealed: Uint8Array): string {
    return Buffer.from(this.#vault.open(aad, sealed)).toString('utf8');
  }
}
