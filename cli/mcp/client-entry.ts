import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../shared/lib/guards.ts';
import { messageOf } from '../errors.ts';
import { scanToml, type TomlStatement } from './toml-scan.ts';

/** How a client starts the server. */
export interface ServerEntry {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** svc can't change the file safely; the message says why. */
export class EntryRefused extends Error {}

/** Fields of a remote server's entry, which a local command must not have. */
const REMOTE_FIELDS: ReadonlySet<string> = new Set([
  'url',
  'headers',
  'http_headers',
  'env_http_headers',
  'bearer_token_env_var',
]);
const OUR_FIELDS: ReadonlySet<string> = new Set(['type', 'command', 'args', 'env']);

/** Adds the entry under `mcpServers` to a JSON configuration; keeps the order and indentation. */
export function withJsonEntry(text: string, name: string, entry: ServerEntry): string {
  const root = parseRoot(text);
  const servers = root['mcpServers'] ?? {};
  if (!isObject(servers)) throw new EntryRefused("Its `mcpServers` isn't an object.");
  const before = Object.hasOwn(servers, name) ? servers[name] : undefined;
  const kept = Object.entries(isObject(before) ? before : {}).filter(([field]) => isKept(field));
  const after = { type: 'stdio', ...jsonEntry(entry), ...Object.fromEntries(kept) };
  // Leave a file alone if only the formatting would change.
  if (isDeepStrictEqual(before, after)) return text;
  const changed = { ...root, mcpServers: { ...servers, [name]: after } };
  return `${JSON.stringify(changed, null, indentOf(text))}\n`;
}

function isKept(field: string): boolean {
  return !OUR_FIELDS.has(field) && !REMOTE_FIELDS.has(field);
}

function jsonEntry({ command, args, env }: ServerEntry): Record<string, unknown> {
  return { command, args, ...(Object.keys(env).length > 0 && { env }) };
}

function parseRoot(text: string): Record<string, unknown> {
  if (text.trim() === '') return {};
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch (error) {
    throw new EntryRefused(`It isn't valid JSON: ${messageOf(error)}`);
  }
  if (isObject(root)) return root;
  throw new EntryRefused("Its JSON isn't an object.");
}

function indentOf(text: string): string {
  return /\n([ \t]+)"/.exec(text)?.[1] ?? '  ';
}

/** Adds the table `mcp_servers.<name>` to Codex's configuration; every other byte stays the same. */
export function withTomlEntry(text: string, name: string, entry: ServerEntry): string {
  const own = ['mcp_servers', name];
  const statements = scanned(text);
  refuseOtherForms(statements, own);
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const header = statements.find((one) => one.kind === 'table' && isPath(one.path, own));
  const lines = [`[mcp_servers.${name}]`, ...tomlLines(entry)].join(eol) + eol;
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
  // The environment may have its own table, which would then exist twice.
  const apart = statements.filter((one) => isPath(one.table, [...own, 'env']));
  const [first, last] = [apart[0], apart.at(-1)];
  if (first && last) edits.push({ start: first.start, end: last.end, text: '' });
  return applied(text, edits);
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

function applied(text: string, edits: readonly Edit[]): string {
  const fromTheEnd = edits.toSorted((one, other) => other.start - one.start);
  return fromTheEnd.reduce(
    (changed, edit) => changed.slice(0, edit.start) + edit.text + changed.slice(edit.end),
    text,
  );
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
    throw new EntryRefused(`It isn't valid TOML: ${messageOf(error)}`);
  }
}

/** If the same table is written as dotted keys or inline, a second one would break the file. */
function refuseOtherForms(statements: readonly TomlStatement[], own: readonly string[]): void {
  for (const { kind, path, table } of statements) {
    const inline = kind === 'value' && isPath(path, own.slice(0, 1));
    const dotted = kind === 'value' && startsWith(path, own) && !startsWith(table, own);
    const list = kind === 'tables' && startsWith(own, path);
    if (inline || dotted || list) {
      throw new EntryRefused(`It doesn't define \`${own.join('.')}\` as its own table.`);
    }
  }
}

function isPath(path: readonly string[], other: readonly string[]): boolean {
  return path.length === other.length && startsWith(path, other);
}

function startsWith(path: readonly string[], beginning: readonly string[]): boolean {
  return beginning.every((part, index) => path[index] === part);
}

function tomlLines({ command, args, env }: ServerEntry): string[] {
  const pairs = Object.entries(env).map(([key, value]) => `${key} = ${tomlString(value)}`);
  return [
    `command = ${tomlString(command)}`,
    `args = [${args.map(tomlString).join(', ')}]`,
    ...(pairs.length > 0 ? [`env = { ${pairs.join(', ')} }`] : []),
  ];
}

/** TOML accepts JSON's escapes, but also requires DEL to be escaped. */
function tomlString(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', String.raw`\u007F`);
}

/** Only the entry, for `--print`. */
export function entryText(format: 'json' | 'toml', name: string, entry: ServerEntry): string {
  return (format === 'json' ? withJsonEntry : withTomlEntry)('', name, entry).trimEnd();
}
