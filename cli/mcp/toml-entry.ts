import { messageOf } from '../../clients/typescript/core/errors.ts';
import { applied, EntryEditError, eolOf, isKept, type Edit, type EntryFields } from './edits.ts';
import type { EntryPlace } from './json-entry.ts';
import { scanToml, type TomlStatement } from './toml-scan.ts';

/** Adds the server's table to a TOML configuration, or replaces it; every other byte stays the same. */
export function withTomlEntry(
  text: string,
  { servers, name }: EntryPlace,
  fields: EntryFields,
): string {
  const own = [servers, name];
  const statements = scanned(text);
  refuseOtherForms(statements, own);
  const eol = eolOf(text);
  const header = statements.find((one) => one.kind === 'table' && isPath(one.path, own));
  const lines = [`[${own.join('.')}]`, ...tomlLines(fields)].join(eol) + eol;
  const edits: Edit[] = [];
  if (header) {
    const inside = statements.filter((one) => one.kind === 'value' && isPath(one.table, own));
    const kept = inside.filter((one) => isKept(one.path[own.length] ?? ''));
    const keptText = kept.map((one) => withEol(text.slice(one.start, one.end), eol)).join('');
    const end = inside.at(-1)?.end ?? header.end;
    edits.push({ start: header.start, end, text: lines + keptText });
  } else {
    edits.push({ start: text.length, end: text.length, text: separator(text, eol) + lines });
  }
  // The environment and the headers may have their own tables, which would then exist twice.
  for (const field of ['env', 'http_headers', 'env_http_headers']) {
    edits.push(...tableEdits(statements, (path) => isPath(path, [...own, field])));
  }
  return applied(text, edits);
}

/** Removes the server's tables; every other byte stays the same. */
export function withoutTomlEntry(text: string, { servers, name }: EntryPlace): string {
  const own = [servers, name];
  const statements = scanned(text);
  const edits = tableEdits(statements, (path) => startsWith(path, own));
  if (edits.length === 0) return text;
  refuseOtherForms(statements, own);
  const changed = applied(text, edits);
  // The blank line above a table at the end belongs to the table.
  return edits.some(({ end }) => end === text.length)
    ? changed.replace(/(\r?\n)(?:\r?\n)+$/, '$1')
    : changed;
}

/** Removes the tables with such a path, each from its header to its last value. */
function tableEdits(
  statements: readonly TomlStatement[],
  isMeant: (path: readonly string[]) => boolean,
): Edit[] {
  return statements
    .filter((one) => one.kind !== 'value' && isMeant(one.path))
    .map((header) => {
      const from = statements.indexOf(header);
      const next = statements.findIndex((one, at) => at > from && one.kind !== 'value');
      const last = statements.at(next === -1 ? -1 : next - 1) ?? header;
      return { start: header.start, end: last.end, text: '' };
    });
}

function withEol(line: string, eol: string): string {
  return line.endsWith('\n') ? line : line + eol;
}

/** A blank line before the new table. */
function separator(text: string, eol: string): string {
  if (text.trim() === '') return '';
  return text.endsWith('\n') ? eol : eol + eol;
}

function scanned(text: string): TomlStatement[] {
  try {
    return scanToml(text);
  } catch (error) {
    throw new EntryEditError(`It isn't valid TOML: ${messageOf(error)}`);
  }
}

/** If the same table is written as dotted keys or inline, a second one would break the file. */
function refuseOtherForms(statements: readonly TomlStatement[], own: readonly string[]): void {
  for (const { kind, path, table } of statements) {
    const inline = kind === 'value' && isPath(path, own.slice(0, 1));
    const dotted = kind === 'value' && startsWith(path, own) && !startsWith(table, own);
    const list = kind === 'tables' && startsWith(own, path);
    if (inline || dotted || list) {
      throw new EntryEditError(`It doesn't define \`${own.join('.')}\` as its own table.`);
    }
  }
}

function isPath(path: readonly string[], other: readonly string[]): boolean {
  return path.length === other.length && startsWith(path, other);
}

function startsWith(path: readonly string[], beginning: readonly string[]): boolean {
  return beginning.every((part, index) => path[index] === part);
}

function tomlLines(fields: EntryFields): string[] {
  return Object.entries(fields).map(([field, value]) => `${field} = ${tomlValue(value)}`);
}

function tomlValue(value: EntryFields[string]): string {
  if (typeof value === 'string') return tomlString(value);
  if (isList(value)) return `[${value.map(tomlString).join(', ')}]`;
  const pairs = Object.entries(value).map(([key, text]) => `${key} = ${tomlString(text)}`);
  return `{ ${pairs.join(', ')} }`;
}

function isList(value: EntryFields[string]): value is readonly string[] {
  return Array.isArray(value);
}

/** TOML accepts JSON's escapes, but also requires DEL to be escaped. */
function tomlString(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', String.raw`\u007F`);
}
