import { invalid, type ServiceError } from '../../lib/errors.ts';
import type { Operation } from '../../kernel/operation.ts';
import type { Scope } from '../../lib/scopes.ts';
import { nearest } from '../../lib/suggest.ts';
import { amongOffered } from './tool-names.ts';
import { invalidParams } from './refusal.ts';
import type { McpAddress } from '../../kernel/mcp-address.ts';
import type { CallableTool, ToolTable } from './tables.ts';
import type { ToolBook } from './tools.ts';

/** Tools with these names, or these first words, belong to another set. */
const SETS: Readonly<Record<string, string>> = {
  // Whoever asks people doesn't choose them.
  channel_add: 'policy',
  channel_remove: 'policy',
  whoami: 'session',
  request: 'ask',
  channel: 'ask',
  kv: 'disk',
  state: 'disk',
  file: 'disk',
};

/** The tools of a book by set: `inbox`, `ask`, `disk`, … */
export function toolsetsOf(operations: readonly Operation[]): Map<string, Set<string>> {
  const sets = new Map<string, Set<string>>();
  for (const { name, mcp } of operations) {
    if (mcp === false) continue;
    const noun = name.split('_', 1)[0] ?? name;
    const set = SETS[name] ?? SETS[noun] ?? noun;
    sets.set(set, (sets.get(set) ?? new Set()).add(name));
  }
  return sets;
}

/** The part of a book that a client asked for. Throws VALIDATION_FAILED for a name that is neither a set nor a tool. */
export class Toolset implements ToolTable {
  readonly #book: ToolBook;
  /** Null means all. */
  readonly #names: ReadonlySet<string> | null;
  readonly #readOnly: boolean;

  constructor(book: ToolBook, { tools, readOnly }: McpAddress) {
    this.#book = book;
    this.#names = tools === undefined ? null : namesIn(tools, book.toolsets);
    this.#readOnly = readOnly;
  }

  find(name: string): CallableTool | undefined {
    if (this.#names !== null && !this.#names.has(name)) return undefined;
    const tool = this.#book.find(name);
    return this.#readOnly ? tool && reading(tool, this.#book.writes(name)) : tool;
  }

  whyMissing(name: string): string {
    if (!this.#book.find(name)) return this.#book.whyMissing(name);
    return this.#readOnly ? 'This connection only reads.' : 'This connection has other tools.';
  }

  list(scopes: readonly Scope[]): readonly { readonly name: string }[] {
    // A read-only inbox_wait can't claim, as for keys that may not write.
    const able = this.#readOnly ? scopes.filter((scope) => scope !== 'inbox:write') : scopes;
    const tools = this.#book
      .list(able)
      .filter(({ name }) => this.#names === null || this.#names.has(name))
      .filter(({ annotations }) => !this.#readOnly || annotations.readOnlyHint);
    return amongOffered(tools);
  }
}

/** A tool that only reads; undefined for one that writes. */
function reading(tool: CallableTool, writes: boolean): CallableTool | undefined {
  if (writes) return undefined;
  return {
    inputOf: (given) => tool.inputOf(given),
    pace: (input) => tool.pace(input),
    outlook: (input) => tool.outlook(input),
    run: (input, site) => {
      if (input['claim'] === true)
        throw invalidParams('Claiming is off: this connection only reads.');
      return tool.run(input, site);
    },
  };
}

function namesIn(text: string, sets: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const tools = new Set([...sets.values()].flatMap((set) => [...set]));
  const names = new Set<string>();
  for (const word of text.split(',').map((part) => part.trim())) {
    const found = sets.get(word) ?? (tools.has(word) ? [word] : null);
    if (found === null) throw unknown(word, [...sets.keys()], tools);
    for (const name of found) names.add(name);
  }
  return names;
}

function unknown(word: string, sets: readonly string[], tools: ReadonlySet<string>): ServiceError {
  const meant = nearest(word, [...sets, ...tools]);
  const guess = meant === null ? '' : ` Did you mean ${meant}?`;
  const name = word === '' ? 'an empty name' : word.slice(0, 50);
  const message = `No tool or toolset: ${name}.${guess} Toolsets: ${sets.join(', ')}.`;
  return invalid({ path: 'tools', message });
}
