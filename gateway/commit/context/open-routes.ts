import type { Repositories } from '../../../shared/store/repositories.ts';
import type { OpenRoute } from '../../../shared/store/tables/inbox/routes.ts';

/**
 * The open routes of a project, as the current transaction must see them. They are cached across transactions,
 * because every event needs them. After a transaction changes them, the cache stays empty until that transaction
 * ends, because it may roll back.
 */
export class Routing {
  #known: readonly OpenRoute[] | null = null;
  #changedIn: object | null = null;

  /** The current transaction changed a route. */
  changed(store: Repositories): void {
    this.#known = null;
    this.#changedIn = store.routes.transaction;
  }

  /** Drops the cache, because another gateway may have changed the routes. */
  forget(): void {
    this.#known = null;
  }

  async open(store: Repositories): Promise<readonly OpenRoute[]> {
    if (this.#known) return this.#known;
    const routes = await store.routes.open();
    if (store.routes.transaction !== this.#changedIn) this.#known = routes;
    return routes;
  }
}
