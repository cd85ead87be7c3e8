import { isDeepStrictEqual } from 'node:util';
import { createScanner, getNodeValue, parseTree, type Node, type ParseError } from 'jsonc-parser';
import { isObject } from '../../shared/lib/guards.ts';
import { applied, EntryEditError, eolOf, isKept, type Edit, type EntryFields } from './edits.ts';

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
  if (list.type !== 'object') throw notAnObject(servers);
  const before = memberOf(list, name);
  if (!before) return inserted(text, list, { key: name, value: fields, depth: 2 });
  const value = valueOf(before);
  const old = isObject(value) ? value : {};
  const kept = Object.entries(old).filter(([field]) => isKept(field));
  const after = { ...fields, ...Object.fromEntries(kept) };
  // Leave a file alone if only the formatting would change.
  if (isDeepStrictEqual(old, after)) return text;
  const indent = indentAt(text, partOf(before).offset, 2);
  return applied(text, [
    { start: before.offset, end: endOf(before), text: written(after, indent, text) },
  ]);
}

/** Removes the entry from a JSON configuration; every other byte stays the same. */
export function withoutJsonEntry(text: string, { servers, name }: EntryPlace): string {
  if (text.trim() === '') return text;
  const list = memberOf(rootOf(text), servers);
  const member = list && memberOf(list, name);
  return member ? withoutJsonEntry(withoutPart(text, partOf(member)), { servers, name }) : text;
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
  if (parent.type !== 'object') throw notAnObject(object);
  const before = memberOf(parent, list);
  if (!before) return inserted(text, parent, { key: list, value: [item], depth: 2 });
  if (before.type !== 'array') throw new EntryEditError(`Its \`${object}.${list}\` isn't a list.`);
  return inserted(text, before, { key: null, value: item, depth: 3 });
}

/** Removes the matching items, and whatever is left empty; every other byte stays the same. */
export function withoutJsonItems(
  text: string,
  { object, list }: ListPlace,
  isMeant: (item: unknown) => boolean,
): string {
  if (text.trim() === '') return text;
  const parent = memberOf(rootOf(text), object);
  const holder = parent && memberOf(parent, list);
  const items = holder?.type === 'array' ? (holder.children ?? []) : [];
  const item = items.findLast((one) => isMeant(valueOf(one)));
  if (!parent || !holder || !item) return text;
  if (items.length > 1) {
    return withoutJsonItems(withoutPart(text, item), { object, list }, isMeant);
  }
  return withoutPart(text, partOf(parent.children?.length === 1 ? parent : holder));
}

/** The value of a JSON configuration; an empty object for an empty text. */
export function jsonIn(text: string): unknown {
  return text.trim() === '' ? {} : valueOf(rootOf(text));
}

/** Adds a member with a plain value, unless the configuration has one of that name. */
export function withJsonMember(text: string, key: string, value: unknown): string {
  if (text.trim() === '') return `${JSON.stringify({ [key]: value }, null, 2)}\n`;
  const root = rootOf(text);
  return memberOf(root, key) ? text : inserted(text, root, { key, value, depth: 1 });
}

/** Removes a member of an object or an item of a list. */
function withoutPart(text: string, part: Node): string {
  const parts = part.parent?.children ?? [];
  const previous = parts[parts.indexOf(part) - 1];
  const edits: Edit[] = [lineOf(text, part)];
  // Without its last part, an object or a list must not end with a comma.
  if (part === parts.at(-1) && previous && commaAfter(text, part) === null) {
    const comma = commaAfter(text, previous);
    if (comma !== null) edits.push({ start: comma, end: comma + 1, text: '' });
  }
  return applied(text, edits);
}

function notAnObject(name: string): EntryEditError {
  return new EntryEditError(`Its \`${name}\` isn't an object.`);
}

/** The part with its comma and, if it's alone on its lines, those lines. */
function lineOf(text: string, part: Node): Edit {
  const start = part.offset;
  const comma = commaAfter(text, part);
  const end = comma === null ? endOf(part) : comma + 1;
  const lead = /[ \t]*$/.exec(text.slice(0, start))?.[0].length ?? 0;
  const rest = /^[ \t]*\r?\n/.exec(text.slice(end))?.[0].length;
  const isAlone = rest !== undefined && text[start - lead - 1] === '\n';
  return isAlone ? { start: start - lead, end: end + rest, text: '' } : { start, end, text: '' };
}

/** The position of the comma after a part; null if there's none. */
function commaAfter(text: string, part: Node): number | null {
  const scanner = createScanner(text, true);
  scanner.setPosition(endOf(part));
  scanner.scan();
  const next = scanner.getTokenOffset();
  return text[next] === ',' ? next : null;
}

/** As `JSON.parse` gives it: the package's objects have no prototype. */
function valueOf(node: Node): unknown {
  return JSON.parse(JSON.stringify(getNodeValue(node)));
}

function endOf({ offset, length }: Node): number {
  return offset + length;
}

/** A member's value is in an object together with its name. */
function partOf(value: Node): Node {
  return value.parent?.type === 'property' ? value.parent : value;
}

interface NewPart {
  /** Null for an item of a list. */
  readonly key: string | null;
  readonly value: unknown;
  readonly depth: number;
}

/** Adds a part at the end of an object or a list, after its comments. */
function inserted(text: string, holder: Node, { key, value, depth }: NewPart): string {
  const close = endOf(holder) - 1;
  const last = holder.children?.at(-1);
  const lastComma = last ? commaAfter(text, last) : null;
  const eol = eolOf(text);
  const indent = last ? indentAt(text, last.offset, depth) : unitOf(text).repeat(depth);
  const tail = /\s*$/.exec(text.slice(0, close))?.[0] ?? '';
  const outer = tail.includes('\n') ? tail : eol + unitOf(text).repeat(depth - 1);
  // A list that ends with a comma still does.
  const comma = lastComma === null ? '' : ',';
  const lead = key === null ? '' : `${JSON.stringify(key)}: `;
  const part = eol + indent + lead + written(value, indent, text) + comma + outer;
  const edits = [{ start: close - tail.length, end: close, text: part }];
  if (last && lastComma === null) edits.push({ start: endOf(last), end: endOf(last), text: ',' });
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

/** The value of an object's member; the last of several with the name counts. */
function memberOf({ type, children = [] }: Node, name: string): Node | undefined {
  if (type !== 'object') return undefined;
  return children.findLast(({ children: [key] = [] }) => key?.value === name)?.children?.[1];
}

function rootOf(text: string): Node {
  const errors: ParseError[] = [];
  // Editors may begin a file with a mark, which takes the place of a space.
  const root = parseTree(text.replace(/^\ufeff/, ' '), errors, { allowTrailingComma: true });
  const [error] = errors;
  if (!root || error) {
    const line = text.slice(0, error?.offset).split('\n').length;
    throw new EntryEditError(`It isn't valid JSON: Line ${line} isn't valid.`);
  }
  if (root.type === 'object') return root;
  throw new EntryEditError("Its JSON isn't an object.");
}
