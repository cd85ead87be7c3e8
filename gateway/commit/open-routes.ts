import type { Repositories } from '../../shared/store/repositories.ts';
import type { OpenRoute } from '../../shared/store/routes.ts';

/**
 * The open routes of a project, as the transaction at hand must see them. They are remembered from one transaction to the
 * next, because every event asks for them; not while a transaction has changed them, because it may yet be undone.
 */
export class Routing {
  #known: readonly OpenRoute[] | null = null;
  #changedIn: object | null = null;

  /** A route was changed in this transaction. */
  changed(store: Repositories): void {
    this.#known = null;
    this.#changedIn = store.routes.transaction;
  }

  /** Another gateway may have changed them. */
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
