import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../shared/lib/guards.ts';
import { messageOf } from '../../clients/typescript/core/errors.ts';
import { applied, EntryRefused, eolOf, isKept, type Edit, type EntryFields } from './edits.ts';
import { scanJson, type JsonMember, type JsonNode, type JsonPart } from './json-scan.ts';

/** The place of an entry: the object of servers, and the name in it. */
export interface EntryPlace {
  readonly servers: string;
  readonly name: string;
}

/** Adds the entry to a JSON configuration, or replaces it; every other byte stays the same. */
export function withJsonEntry(
  text: string,
  { servers, name }: EntryPlace,
  fields: EntryFields,
): string {
  if (text.trim() === '') {
    return `${JSON.stringify({ [servers]: { [name]: fields } }, null, 2)}\n`;
  }
  const root = rootOf(text);
  const list = memberOf(root, servers);
  if (!list) return inserted(text, root, { key: servers, value: { [name]: fields }, depth: 1 });
  if (!list.node.members) throw notAnObject(servers);
  const before = memberOf(list.node, name);
  if (!before) return inserted(text, list.node, { key: name, value: fields, depth: 2 });
  const old = isObject(before.node.value) ? before.node.value : {};
  const kept = Object.entries(old).filter(([field]) => isKept(field));
  const after = { ...fields, ...Object.fromEntries(kept) };
  // Leave a file alone if only the formatting would change.
  if (isDeepStrictEqual(old, after)) return text;
  const { start, end } = before.node;
  return applied(text, [
    { start, end, text: written(after, indentAt(text, before.start, 2), text) },
  ]);
}

/** Removes the entry from a JSON configuration; every other byte stays the same. */
export function withoutJsonEntry(text: string, { servers, name }: EntryPlace): string {
  if (text.trim() === '') return text;
  const members = memberOf(rootOf(text), servers)?.node.members ?? [];
  const member = members.findLast(({ key }) => key === name);
  if (!member) return text;
  return withoutJsonEntry(withoutPart(text, members, member), { servers, name });
}

/** A list in an object of a JSON configuration, such as the hooks of an event. */
export interface ListPlace {
  readonly object: string;
  readonly list: string;
}

/** Adds an item to the list, which may not be there yet; every other byte stays the same. */
export function withJsonItem(text: string, { object, list }: ListPlace, item: unknown): string {
  if (text.trim() === '') return `${JSON.stringify({ [object]: { [list]: [item] } }, null, 2)}\n`;
  const root = rootOf(text);
  const parent = memberOf(root, object);
  if (!parent) return inserted(text, root, { key: object, value: { [list]: [item] }, depth: 1 });
  if (!parent.node.members) throw notAnObject(object);
  const before = memberOf(parent.node, list);
  if (!before) return inserted(text, parent.node, { key: list, value: [item], depth: 2 });
  if (!before.node.items) throw new EntryRefused(`Its \`${object}.${list}\` isn't a list.`);
  return inserted(text, before.node, { key: null, value: item, depth: 3 });
}

/** Removes the matching items, and whatever is left empty; every other byte stays the same. */
export function withoutJsonItems(
  text: string,
  { object, list }: ListPlace,
  isMeant: (item: unknown) => boolean,
): string {
  if (text.trim() === '') return text;
  const root = rootOf(text);
  const parent = memberOf(root, object);
  const holder = parent && memberOf(parent.node, list);
  const items = holder?.node.items ?? [];
  const item = items.findLast(({ node }) => isMeant(node.value));
  if (!parent || !holder || !item) return text;
  if (items.length > 1) {
    return withoutJsonItems(withoutPart(text, items, item), { object, list }, isMeant);
  }
  const [outer, part] = hasOne(parent.node) ? [root, parent] : [parent.node, holder];
  return withoutPart(text, outer.members ?? [], part);
}

function hasOne({ members }: JsonNode): boolean {
  return members?.length === 1;
}

/** The value of a JSON configuration; an empty object for an empty text. */
export function jsonIn(text: string): unknown {
  return text.trim() === '' ? {} : rootOf(text).value;
}

/** Adds a member with a plain value, unless the configuration has one of that name. */
export function withJsonMember(text: string, key: string, value: unknown): string {
  if (text.trim() === '') return `${JSON.stringify({ [key]: value }, null, 2)}\n`;
  const root = rootOf(text);
  return memberOf(root, key) ? text : inserted(text, root, { key, value, depth: 1 });
}

function withoutPart(text: string, parts: readonly JsonPart[], part: JsonPart): string {
  const at = parts.indexOf(part);
  const previous = parts[at - 1];
  const edits: Edit[] = [lineOf(text, part)];
  // Without its last part, an object or a list must not end with a comma.
  if (at === parts.length - 1 && part.comma === null && previous?.comma != null) {
    edits.push({ start: previous.comma, end: previous.comma + 1, text: '' });
  }
  return applied(text, edits);
}

function notAnObject(name: string): EntryRefused {
  return new EntryRefused(`Its \`${name}\` isn't an object.`);
}

/** The part with its comma and, if it's alone on its lines, those lines. */
function lineOf(text: string, { start, node, comma }: JsonPart): Edit {
  const end = comma === null ? node.end : comma + 1;
  const lead = /[ \t]*$/.exec(text.slice(0, start))?.[0].length ?? 0;
  const rest = /^[ \t]*\r?\n/.exec(text.slice(end))?.[0].length;
  const isAlone = rest !== undefined && text[start - lead - 1] === '\n';
  return isAlone ? { start: start - lead, end: end + rest, text: '' } : { start, end, text: '' };
}

interface NewPart {
  /** Null for an item of a list. */
  readonly key: string | null;
  readonly value: unknown;
  readonly depth: number;
}

/** Adds a part at the end of an object or a list, after its comments. */
function inserted(text: string, holder: JsonNode, { key, value, depth }: NewPart): string {
  const close = holder.end - 1;
  const last: JsonPart | undefined = (holder.members ?? holder.items)?.at(-1);
  const eol = eolOf(text);
  const indent = last ? indentAt(text, last.start, depth) : unitOf(text).repeat(depth);
  const tail = /\s*$/.exec(text.slice(0, close))?.[0] ?? '';
  const outer = tail.includes('\n') ? tail : eol + unitOf(text).repeat(depth - 1);
  // A list that ends with a comma still does.
  const comma = last && last.comma !== null ? ',' : '';
  const lead = key === null ? '' : `${JSON.stringify(key)}: `;
  const part = eol + indent + lead + written(value, indent, text) + comma + outer;
  const edits = [{ start: close - tail.length, end: close, text: part }];
  if (last && last.comma === null)
    edits.push({ start: last.node.end, end: last.node.end, text: ',' });
  return applied(text, edits);
}

function written(value: unknown, indent: string, text: string): string {
  return JSON.stringify(value, null, unitOf(text)).replaceAll('\n', eolOf(text) + indent);
}

/** The whitespace before a member on its line, or the usual indentation if it shares the line. */
function indentAt(text: string, start: number, depth: number): string {
  return /(?:^|\n)([ \t]*)$/.exec(text.slice(0, start))?.[1] ?? unitOf(text).repeat(depth);
}

function unitOf(text: string): string {
  return /\n([ \t]+)["/]/.exec(text)?.[1] ?? '  ';
}

function memberOf({ members }: JsonNode, key: string): JsonMember | undefined {
  return members?.findLast((member) => member.key === key);
}

function rootOf(text: string): JsonNode {
  let root: JsonNode;
  try {
    root = scanJson(text);
  } catch (error) {
    throw new EntryRefused(`It isn't valid JSON: ${messageOf(error)}`);
  }
  if (root.members) return root;
  throw new EntryRefused("Its JSON isn't an object.");
}
