import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../shared/lib/guards.ts';
import { messageOf } from '../../clients/typescript/core/errors.ts';
import { applied, EntryRefused, eolOf, isKept, type Edit, type EntryFields } from './edits.ts';
import { scanJson, type JsonMember, type JsonNode } from './json-scan.ts';

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
  if (!list.node.members) throw new EntryRefused(`Its \`${servers}\` isn't an object.`);
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
  const at = members.findLastIndex(({ key }) => key === name);
  const member = members[at];
  if (!member) return text;
  const previous = members[at - 1];
  const isLast = at === members.length - 1;
  const edits: Edit[] = [lineOf(text, member)];
  // Without its last member, the list must not end with a comma.
  if (isLast && member.comma === null && previous?.comma != null) {
    edits.push({ start: previous.comma, end: previous.comma + 1, text: '' });
  }
  return withoutJsonEntry(applied(text, edits), { servers, name });
}

/** The member with its comma and, if it's alone on its lines, those lines. */
function lineOf(text: string, { start, node, comma }: JsonMember): Edit {
  const end = comma === null ? node.end : comma + 1;
  const lead = /[ \t]*$/.exec(text.slice(0, start))?.[0].length ?? 0;
  const rest = /^[ \t]*\r?\n/.exec(text.slice(end))?.[0].length;
  const isAlone = rest !== undefined && text[start - lead - 1] === '\n';
  return isAlone ? { start: start - lead, end: end + rest, text: '' } : { start, end, text: '' };
}

interface NewMember {
  readonly key: string;
  readonly value: unknown;
  readonly depth: number;
}

/** Adds a member at the end of an object, after its comments. */
function inserted(text: string, object: JsonNode, { key, value, depth }: NewMember): string {
  const close = object.end - 1;
  const last = object.members?.at(-1);
  const eol = eolOf(text);
  const indent = last ? indentAt(text, last.start, depth) : unitOf(text).repeat(depth);
  const tail = /\s*$/.exec(text.slice(0, close))?.[0] ?? '';
  const outer = tail.includes('\n') ? tail : eol + unitOf(text).repeat(depth - 1);
  // A list that ends with a comma still does.
  const comma = last && last.comma !== null ? ',' : '';
  const entry = `${JSON.stringify(key)}: ${written(value, indent, text)}${comma}`;
  const member = eol + indent + entry + outer;
  const edits = [{ start: close - tail.length, end: close, text: member }];
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
