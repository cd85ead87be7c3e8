/** Names that stay while somebody holds them. */
export class Pins {
  readonly #held = new Map<string, number>();

  has(name: string): boolean {
    return this.#held.has(name);
  }

  /** Holds a name until what is returned is called; that answers whether nobody else holds it. */
  hold(name: string): () => boolean {
    this.#held.set(name, (this.#held.get(name) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return false;
      isHeld = false;
      const left = (this.#held.get(name) ?? 1) - 1;
      if (left > 0) this.#held.set(name, left);
      else this.#held.delete(name);
      return left <= 0;
    };
  }
}
