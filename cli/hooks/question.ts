import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { stringifyExact } from '../../shared/lib/json/exact-json.ts';
import { isObject } from '../../shared/lib/guards.ts';
import { BIND_MAX_BYTES, DETAILS_MAX_CHARS } from '../../shared/lib/limits.ts';
import { hasControl } from '../../shared/lib/text.ts';
import { canonicalJson } from '../../shared/rules/canonical-json.ts';
import { changedLines } from './edit-lines.ts';
import type { ToolCall } from './tool-call.ts';

/** What `ask_approval` takes. */
export interface Question {
  readonly action: string;
  readonly summary: string;
  readonly details: string;
  readonly risk: 'medium' | 'high';
  readonly bind: unknown;
  /** The session as people know it: `shop on laptop, session 0242ac120002`. */
  readonly thread?: string;
  readonly suggested_rule?: object;
}

/** A name that a policy can match and a person can read. */
const TOOL = /^[\w.:/@-]{1,150}$/;
const SHOWN_COMMAND_CHARS = 100;
const SHOWN_NAME_CHARS = 60;
const SHOWN_FACT_CHARS = 300;
/** A larger file is shown as if it were new. */
const COMPARED_BYTES = 1024 * 1024;
/** A larger member of an input that's too large to bind is bound by its digest. */
const WHOLE_BYTES = 256;

/** The question about a call, in our words; or why people can't be asked, as a sentence. */
export function questionAbout(call: ToolCall, client: string): Question | string {
  const { tool } = call;
  if (!TOOL.test(tool)) return "The tool's name has characters that svc can't show.";
  const body = bodyOf(call);
  if (hasControl(body.replaceAll(/[\t\n\r]/g, '')) || !body.isWellFormed()) {
    return "The call has characters that a page can't show.";
  }
  const facts = factsOf(call, client);
  const room = DETAILS_MAX_CHARS - facts.length - 2;
  if (body.length > room && call.command !== null) return 'The command is too long to show whole.';
  return {
    action: `tool.${tool}`,
    summary: summaryOf(call),
    details: `${cut(body, room)}\n\n${facts}`,
    risk: isUnconfined(call.input) ? 'high' : 'medium',
    bind: bindable(call.input),
    ...threadOf(call),
    ...(call.suggestedRule !== null && { suggested_rule: call.suggestedRule }),
  };
}

/** The end of an id tells sessions apart; in some the start is a time. */
const SESSION_CHARS = 12;
const SHOWN_HOST_CHARS = 40;

function threadOf({ session, cwd }: ToolCall): Pick<Question, 'thread'> {
  if (session === null) return {};
  const folder = cwd === null ? 'a folder' : shown(basename(cwd), SHOWN_NAME_CHARS);
  const host = shown(hostname().split('.')[0] ?? '', SHOWN_HOST_CHARS);
  const id = shown(session.slice(-SESSION_CHARS), SESSION_CHARS);
  return { thread: `${folder} on ${host}, session ${id}` };
}

/** Whether the agent wants to leave the client's sandbox. */
function isUnconfined(input: unknown): boolean {
  return isObject(input) && input['dangerouslyDisableSandbox'] === true;
}

function summaryOf(call: ToolCall): string {
  const { tool, input, command, cwd } = call;
  const near = cwd === null ? '' : ` in ${shown(basename(cwd), SHOWN_NAME_CHARS)}`;
  if (command !== null) return `Run \`${shown(command, SHOWN_COMMAND_CHARS)}\`${near}`;
  const edit = editOf(call);
  if (edit !== null) return `${edit.verb} ${shown(edit.name, SHOWN_COMMAND_CHARS)}${near}`;
  const url = isObject(input) ? input['url'] : undefined;
  if (typeof url === 'string') return `${tool}: ${shown(url, SHOWN_COMMAND_CHARS)}${near}`;
  return `Use the tool ${tool}${near}`;
}

/** What will be done: the whole command, the lines that change, or the tool's input. */
function bodyOf(call: ToolCall): string {
  if (call.command !== null) return call.command;
  return editOf(call)?.lines.join('\n') ?? stringifyExact(call.input ?? null, 2);
}

interface FileEdit {
  readonly verb: 'Change' | 'Write';
  readonly name: string;
  readonly lines: readonly string[];
}

/** The edit that the input of a client's own tool describes; null if it describes none. */
function editOf({ input, cwd }: ToolCall): FileEdit | null {
  const fields = isObject(input) ? input : {};
  const path = fields['file_path'] ?? fields['notebook_path'];
  if (typeof path !== 'string') return null;
  const name = nameOf(path, cwd);
  const { edits, content, new_source: source } = fields;
  if (typeof content === 'string') {
    return { verb: 'Write', name, lines: changedLines(textIn(path, cwd), content) };
  }
  if (typeof source === 'string') return { verb: 'Change', name, lines: changedLines('', source) };
  const changes = (Array.isArray(edits) ? edits : [fields]).flatMap(changeLines);
  return changes.length === 0 ? null : { verb: 'Change', name, lines: changes };
}

function changeLines(change: unknown): string[] {
  const { old_string: old, new_string: next, replace_all: all } = isObject(change) ? change : {};
  if (typeof old !== 'string' || typeof next !== 'string') return [];
  return [...(all === true ? ['(wherever it stands)'] : []), ...changedLines(old, next)];
}

function nameOf(path: string, cwd: string | null): string {
  if (cwd === null || !isAbsolute(path)) return path;
  const near = relative(cwd, path);
  return near.startsWith('..') || near === '' ? path : near;
}

/** What a file says now; nothing if there is none, or none that can be compared. */
function textIn(path: string, cwd: string | null): string {
  try {
    const whole = resolve(cwd ?? '/', path);
    const stat = statSync(whole);
    return stat.isFile() && stat.size <= COMPARED_BYTES ? readFileSync(whole, 'utf8') : '';
  } catch {
    return '';
  }
}

function factsOf({ cwd, session, said }: ToolCall, client: string): string {
  const branch = cwd === null ? null : branchOf(cwd);
  const facts = [
    ...(cwd === null ? [] : [['Folder', cwd]]),
    ...(branch === null ? [] : [['Branch', branch]]),
    ['Client', session === null ? client : `${client}, session ${session}`],
    ...said,
  ];
  return facts
    .map(([name, value]) => `${name ?? ''}: ${shown(value ?? '', SHOWN_FACT_CHARS)}`)
    .join('\n');
}

/** The branch that the folder's repository has checked out; null outside one. */
function branchOf(cwd: string): string | null {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const head = headIn(join(folder, '.git'));
    if (head !== null) return /^ref: refs\/heads\/(.+)$/m.exec(head)?.[1] ?? 'none';
    if (folder === dirname(folder)) return null;
  }
}

function headIn(git: string): string | null {
  try {
    // In a worktree `.git` is a file that names the folder.
    const folder = statSync(git).isFile()
      ? /^gitdir: (.+)$/m.exec(readFileSync(git, 'utf8'))?.[1]
      : git;
    return folder === undefined
      ? null
      : readFileSync(resolve(dirname(git), folder, 'HEAD'), 'utf8');
  } catch {
    return null;
  }
}

/** One line that may be cut, without characters that a line can't have. */
function shown(text: string, most: number): string {
  const line = text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  return line.length > most ? `${line.slice(0, most).toWellFormed()}…` : line;
}

function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const note = '\n… The rest is too long to show here.';
  return text.slice(0, most - note.length).toWellFormed() + note;
}

/** The input as it is, if it's small enough to bind; otherwise with digests in place of its long parts. */
function bindable(input: unknown): unknown {
  const value = input ?? null;
  if (sizeOf(value) <= BIND_MAX_BYTES) return value;
  const short = isObject(value)
    ? Object.fromEntries(
        Object.entries(value).map(([name, member]) => [
          name,
          sizeOf(member) > WHOLE_BYTES ? digestOf(member) : member,
        ]),
      )
    : value;
  return sizeOf(short) <= BIND_MAX_BYTES ? short : digestOf(value);
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(canonicalJson(value));
}

/** A text is hashed as its own bytes, any other value as its canonical JSON. */
function digestOf(value: unknown): { readonly sha256: string; readonly bytes: number } {
  const text = typeof value === 'string' ? value : canonicalJson(value);
  const sha256 = createHash('sha256').update(text).digest('hex');
  return { sha256, bytes: Buffer.byteLength(text) };
}
