import { stringifyExact } from '../../../../shared/lib/json/exact-json.ts';
import { isObject } from '../../../../shared/lib/guards.ts';

/** A place in a document where two versions differ; null where a version has nothing there. */
export interface JsonChange {
  /** Such as `steps[2].name`; '' for the whole document. */
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

export const CHANGES_MAX = 100;
/** Below this, values are compared as a whole. */
const DEPTH_MAX = 50;

interface ValuePosition {
  readonly path: string;
  readonly depth: number;
}

type Tree = Readonly<Record<string, unknown>>;

/** Where two documents differ, the first 100 places, in the order of the document. */
export function jsonChanges(before: unknown, after: unknown): readonly JsonChange[] {
  const changes = new Changes();
  changes.compare({ path: '', depth: 0 }, before, after);
  return changes.found;
}

class Changes {
  readonly found: JsonChange[] = [];

  compare(place: ValuePosition, before: unknown, after: unknown): void {
    if (this.#isFull()) return;
    const [old, fresh] = [stringifyExact(before), stringifyExact(after)];
    if (old === fresh) return;
    const isLeaf = place.depth >= DEPTH_MAX;
    if (!isLeaf && Array.isArray(before) && Array.isArray(after)) this.#lists(place, before, after);
    else if (!isLeaf && isObject(before) && isObject(after)) this.#objects(place, before, after);
    else this.found.push({ path: place.path, before: old, after: fresh });
  }

  #isFull(): boolean {
    return this.found.length >= CHANGES_MAX;
  }

  #objects(place: ValuePosition, before: Tree, after: Tree): void {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const below = { path: memberPath(place.path, name), depth: place.depth + 1 };
      if (!Object.hasOwn(after, name)) this.#add(below, { before: before[name] });
      else if (!Object.hasOwn(before, name)) this.#add(below, { after: after[name] });
      else this.compare(below, before[name], after[name]);
    }
  }

  /** What is the same at both ends is left out, so that one item more isn't a change of all that follow it. */
  #lists(place: ValuePosition, before: readonly unknown[], after: readonly unknown[]): void {
    const { start, end } = differing(before.map(textOf), after.map(textOf));
    const [oldEnd, freshEnd] = [before.length - end, after.length - end];
    for (let index = start; index < Math.max(oldEnd, freshEnd); index += 1) {
      const below = { path: `${place.path}[${index}]`, depth: place.depth + 1 };
      if (index >= freshEnd) this.#add(below, { before: before[index] });
      else if (index >= oldEnd) this.#add(below, { after: after[index] });
      else this.compare(below, before[index], after[index]);
    }
  }

  #add(
    { path }: ValuePosition,
    change: { readonly before?: unknown; readonly after?: unknown },
  ): void {
    if (this.#isFull()) return;
    const side = (name: 'before' | 'after'): string | null =>
      name in change ? stringifyExact(change[name]) : null;
    this.found.push({ path, before: side('before'), after: side('after') });
  }
}

function textOf(value: unknown): string {
  return stringifyExact(value);
}

/** How many items at the start, and at the end, are the same. */
function differing(old: readonly string[], fresh: readonly string[]) {
  const shorter = Math.min(old.length, fresh.length);
  let start = 0;
  while (start < shorter && old[start] === fresh[start]) start += 1;
  let end = 0;
  while (end < shorter - start && old.at(-1 - end) === fresh.at(-1 - end)) end += 1;
  return { start, end };
}

/** As in jq and JavaScript. */
function memberPath(path: string, name: string): string {
  if (!/^[A-Za-z_$][\w$]*$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}
