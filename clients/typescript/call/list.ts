interface Page<T> {
  readonly items: readonly T[];
  readonly next_cursor: string | number | null;
}

type Cursor<P extends Page<unknown>> = NonNullable<P['next_cursor']>;

/** A list: `for await` goes through all of it, `page()` reads one page. Nothing is read before that. */
export class List<T, P extends Page<T>> implements AsyncIterable<T> {
  readonly #read: (from: { readonly cursor?: Cursor<P> }) => Promise<P>;

  constructor(read: (from: { readonly cursor?: Cursor<P> }) => Promise<P>) {
    this.#read = read;
  }

  /** One page, as the API answers it: the first, or the one after `cursor`. */
  page(cursor?: Cursor<P>): Promise<P> {
    return this.#read(cursor === undefined ? {} : { cursor });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    let cursor: Cursor<P> | undefined;
    do {
      const page: P = await this.page(cursor);
      yield* page.items;
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** All items. */
  async all(): Promise<T[]> {
    const items: T[] = [];
    for await (const item of this) items.push(item);
    return items;
  }
}
