import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { readIfThere } from '../../daemon/files.ts';
import { isObject } from '../../shared/lib/guards.ts';
import type { CommandContext } from '../command.ts';
import { switchOption } from '../input/option-values.ts';
import type { SetupScope } from '../mcp/clients.ts';
import { jsonIn, withJsonItem, withJsonMember, withoutJsonItems } from '../mcp/json-entry.ts';
import { ownScript, pathsOf, unchanged } from '../mcp/setup.ts';
import { lastingPath } from '../program-path.ts';
import { shellWord } from '../view/terminal-text.ts';
import { HOOK_CLIENTS, type HookClient, type HookClientName } from './clients.ts';
import { hookHolder } from './key.ts';
import { chosenHookClient, typedWait } from './options.ts';

/** The member of every client's file that has the lists of hooks. */
const HOOKS = 'hooks';
/** The client ends a hook that's late, so it has more time than the person. */
const MARGIN_SECONDS = 60;

/** One client's hook in one of its files. */
export interface HookSetup {
  readonly clientName: HookClientName;
  readonly client: HookClient;
  readonly scope: SetupScope;
  readonly file: string;
  readonly roots: readonly string[];
  /** The stored profile with the hook's key. */
  readonly profile: string;
  /** What people call the key. */
  readonly label: string;
  /** What install adds, by the event. */
  readonly entries: Readonly<Record<string, unknown>>;
}

export function hookSetupOf(context: CommandContext): HookSetup {
  const clientName = chosenHookClient(context);
  const client = HOOK_CLIENTS[clientName];
  const scope: SetupScope = switchOption(context, 'project') ? 'project' : 'user';
  const paths = pathsOf(context.env);
  const folder = scope === 'project' ? paths.project : null;
  const { profile, label } = hookHolder(clientName, folder);
  const waitMs = typedWait(context);
  const seconds = waitMs === undefined ? client.waitSeconds : Math.ceil(waitMs / 1000);
  return {
    clientName,
    client,
    scope,
    file: client.file[scope](paths),
    roots: [paths.home, paths.project],
    profile,
    label,
    entries: client.entries({
      command: commandOf(context, runs(clientName, profile), waitMs === undefined ? null : seconds),
      seconds: seconds + MARGIN_SECONDS,
    }),
  };
}

/** The words that make a command ours. */
function runs(client: HookClientName, profile: string): string {
  return `hook run ${client} --profile ${profile}`;
}

/** The line that the client's shell runs. It has whole paths: a client that a desktop starts has another PATH. */
function commandOf({ env }: CommandContext, words: string, seconds: number | null): string {
  const home = env['SVC_HOME'];
  const program = [
    ...(home ? ['/usr/bin/env', `SVC_HOME=${resolve(home)}`] : []),
    lastingPath(process.execPath),
    ownScript(),
  ];
  const wait = seconds === null ? '' : ` --wait ${seconds}s`;
  return `${program.map(shellWord).join(' ')} ${words}${wait}`;
}

/** The client's file before and after a change; `before` is null without a file. Throws CONFIG_REFUSED. */
export function editedHooks(
  setup: HookSetup,
  change: 'add' | 'remove',
): { readonly before: string | null; readonly after: string } {
  const before = readIfThere(setup.file);
  try {
    return { before, after: editedText(before ?? '', setup, change) };
  } catch (error) {
    throw unchanged(setup.file, error, 'svc hook install');
  }
}

/** Adds the hooks to a client's file, or takes them out; every other byte stays the same. Throws EntryEditError. */
export function editedText(text: string, setup: HookSetup, change: 'add' | 'remove'): string {
  return change === 'add' ? withHooks(text, setup) : withoutHooks(text, setup);
}

/** Only what install adds, for `--print`. */
export function hooksText(setup: HookSetup): string {
  return withHooks('', setup).trimEnd();
}

function withHooks(text: string, setup: HookSetup): string {
  let changed = text;
  for (const [name, value] of Object.entries(setup.client.fields)) {
    changed = withJsonMember(changed, name, value);
  }
  for (const [list, entry] of Object.entries(setup.entries)) {
    const ours = itemsOf(changed, list).filter((item) => isOurs(item, setup));
    if (ours.length === 1 && isDeepStrictEqual(ours[0], entry)) continue;
    const place = { object: HOOKS, list };
    const without = withoutJsonItems(changed, place, (item) => isOurs(item, setup));
    changed = withJsonItem(without, place, entry);
  }
  return changed;
}

function withoutHooks(text: string, setup: HookSetup): string {
  return Object.keys(setup.entries).reduce(
    (changed, list) =>
      withoutJsonItems(changed, { object: HOOKS, list }, (item) => isOurs(item, setup)),
    text,
  );
}

function itemsOf(text: string, list: string): readonly unknown[] {
  const root = jsonIn(text);
  const hooks = isObject(root) ? root[HOOKS] : null;
  const items = isObject(hooks) ? hooks[list] : null;
  return Array.isArray(items) ? (items as readonly unknown[]) : [];
}

/** Whether an item is the one that install added, in whatever release. */
function isOurs(item: unknown, { clientName, profile }: HookSetup): boolean {
  if (!isObject(item)) return false;
  const nested: unknown = item['hooks'];
  const own = Array.isArray(nested) && nested.length === 1 ? (nested[0] as unknown) : item;
  const command = isObject(own) ? own['command'] : null;
  return typeof command === 'string' && ` ${command} `.includes(` ${runs(clientName, profile)} `);
}
