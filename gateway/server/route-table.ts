/** The route of paths that match no route. */
export const NO_ROUTE = 'none';

/** The patterns of all routes, to count requests by. Paths themselves would create a series for each event. */
export class RouteTable {
  /** By their fixed first segment, or first two. */
  readonly #patterns = new Map<string, RegExp[]>();
  readonly #shown = new Map<RegExp, string>();

  /** Takes paths as hono writes them: `/v1/kv/:key{[\s\S]+}`. */
  constructor(paths: Iterable<string>) {
    for (const path of new Set(paths)) {
      if (/^\/?\*?$/.test(path)) continue;
      const { pattern, shown, beginning } = compile(path);
      this.#shown.set(pattern, shown);
      this.#patterns.set(beginning, [...(this.#patterns.get(beginning) ?? []), pattern]);
    }
  }

  /** Returns the pattern of a path, such as `/v1/inbox/{id}`; `none` if no route matches. */
  of(path: string): string {
    const [, first = '', second] = path.split('/', 3);
    for (const beginning of [`${first}/${second}`, first]) {
      const found = this.#patterns.get(beginning)?.find((pattern) => pattern.test(path));
      if (found) return this.#shown.get(found) ?? NO_ROUTE;
    }
    return NO_ROUTE;
  }
}

function compile(path: string): { pattern: RegExp; shown: string; beginning: string } {
  const segments = path.split('/').slice(1).map(segment);
  const pattern = new RegExp(`^${segments.map(({ source }) => `/${source}`).join('')}$`);
  const shown = segments.map(({ name }) => `/${name}`).join('');
  const [first, second] = segments;
  const isFixed = second !== undefined && second.name === second.source;
  return {
    pattern,
    shown,
    beginning: isFixed ? `${first?.name}/${second.name}` : (first?.name ?? ''),
  };
}

function segment(text: string): { source: string; name: string } {
  if (text === '*') return { source: '.*', name: '*' };
  const [, name, rule] = /^:(\w+)\??(?:\{(.*)\})?$/.exec(text) ?? [];
  if (name === undefined)
    return { source: text.replaceAll(/[.+?^$()[\]|\\]/g, '\\$&'), name: text };
  return { source: rule === undefined ? '[^/]+' : '[\\s\\S]+', name: `{${name}}` };
}
