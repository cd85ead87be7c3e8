import { ServiceError } from '../../lib/errors.ts';
import { APPROVALS_MAX } from '../../lib/limits.ts';
import { isObject } from '../../lib/guards.ts';
import { isPointer } from '../../lib/json/json-pointer.ts';
import { isPattern } from '../inbox/event-type.ts';
import type { BindTest } from './bound.ts';
import { isCommandPattern } from './command-line.ts';
import { domainProblem } from './domain.ts';
import { isPlainPath } from './folder.ts';
import { quoted } from './copy.ts';

export const POLICY_EFFECTS = [
  'allow',
  'deny',
  'require_approval',
  'auto_approve',
  'auto_approve_notify',
] as const;
export const POLICY_TOOLS = ['file_url', 'email_send'] as const;
export const POLICY_RISKS = ['low', 'medium', 'high'] as const;

export const POLICY_RULES_MAX = 200;
/** The limit for each list in a rule. */
export const POLICY_ITEMS_MAX = 50;
export const POLICY_ACTION_MAX_CHARS = 200;
const POLICY_POINTER_MAX_CHARS = 200;
export const POLICY_DESCRIPTION_MAX_CHARS = 500;
/** The size as JSON. A policy of this size and its note fit into one API request body. */
export const POLICY_MAX_BYTES = 100 * 1024;

export type PolicyEffect = (typeof POLICY_EFFECTS)[number];
export type PolicyTool = (typeof POLICY_TOOLS)[number];
export type PolicyRisk = (typeof POLICY_RISKS)[number];

/**
 * One rule in normal form: it has an id, single values are lists of one, and lists have no duplicates. All its
 * conditions must hold; a rule without conditions matches everything.
 */
export interface PolicyRule {
  readonly id: string;
  readonly effect: PolicyEffect;
  /** Action names, or prefixes that end in `*`. */
  readonly action?: readonly string[] | undefined;
  readonly tool?: readonly PolicyTool[] | undefined;
  /** Exclusive, while `amount_lte` is inclusive, so that consecutive ranges leave no gap. */
  readonly amount_gt?: number | undefined;
  readonly amount_lte?: number | undefined;
  /** Not a condition: where bound values have the amount, as a JSON pointer (default `/amount`). */
  readonly amount_at?: string | undefined;
  readonly risk?: readonly PolicyRisk[] | undefined;
  /** By JSON pointer, such as `/currency`. */
  readonly bind?: Readonly<Record<string, BindTest>> | undefined;
  /** `example.com`, or `*.example.com` for its subdomains. */
  readonly recipient_domains?: readonly string[] | undefined;
  /** Not a condition: the channels to ask or notify. */
  readonly approvers?: readonly string[] | undefined;
  /** Not a condition: how many people must approve, for `require_approval` (default 1). */
  readonly approvals?: number | undefined;
  /** Not a condition. */
  readonly description?: string | undefined;
}

/** The first rule that matches decides. Parsing its JSON again gives the same document. */
export interface PolicyDocument {
  readonly rules: readonly PolicyRule[];
}

type Reader<T> = (value: unknown, path: string) => T;

/** The reader of each field, in the order in which we write a rule. */
const FIELDS: { readonly [F in keyof PolicyRule]-?: Reader<Exclude<PolicyRule[F], undefined>> } = {
  id: readId,
  effect: oneOf(POLICY_EFFECTS),
  action: valueOrList(readAction),
  tool: valueOrList(oneOf(POLICY_TOOLS, ' What ask_approval asks for is matched by action.')),
  amount_gt: readAmount,
  amount_lte: readAmount,
  amount_at: readPointer,
  risk: valueOrList(oneOf(POLICY_RISKS)),
  bind: readBind,
  recipient_domains: listOf(readDomain),
  approvers: listOf(readApprover),
  approvals: readApprovals,
  description: readDescription,
};

const FIELD_NAMES = Object.keys(FIELDS) as (keyof PolicyRule)[];

/**
 * Parses a policy from JSON. Throws POLICY_INVALID with the path of the first bad field, such as `rules[2].amount_lte`:
 * first the fields in the order given, then missing ones.
 */
export function parsePolicy(value: unknown): PolicyDocument {
  if (!isObject(value)) throw bad('policy', 'Write an object such as `{"rules": []}`.');
  let rules: PolicyRule[] | null = null;
  for (const name of Object.keys(value)) {
    if (name !== 'rules') throw bad(member('', name), 'A policy has `rules` and nothing else.');
    rules = readRules(value['rules']);
  }
  if (rules === null) throw bad('rules', 'Pass the list of rules; it may be empty.');
  return { rules };
}

function readRules(value: unknown): PolicyRule[] {
  if (!Array.isArray(value)) throw bad('rules', 'Write a list of rules.');
  if (value.length > POLICY_RULES_MAX) {
    throw bad('rules', `Use at most ${POLICY_RULES_MAX}, not ${value.length}.`);
  }
  const idsTaken = new Set<string>();
  // Array.from also visits holes.
  const rules = Array.from(value, (rule: unknown, index) => readRule(rule, index, idsTaken));
  const bytes = Buffer.byteLength(JSON.stringify(rules));
  if (bytes > POLICY_MAX_BYTES) {
    throw bad('rules', `Use at most ${POLICY_MAX_BYTES} bytes of JSON, not ${bytes}.`);
  }
  return rules;
}

function readRule(value: unknown, index: number, idsTaken: Set<string>): PolicyRule {
  const path = `rules[${index}]`;
  if (!isObject(value)) throw bad(path, 'Write an object such as `{"effect": "deny"}`.');
  const read = new Map<keyof PolicyRule, unknown>();
  for (const name of Object.keys(value)) {
    const at = member(path, name);
    if (!isField(name)) throw bad(at, `A rule has no such field, only ${FIELD_NAMES.join(', ')}.`);
    const given = value[name];
    if (given === undefined) continue;
    const field = FIELDS[name](given, at);
    read.set(name, field);
    if (name === 'id' && typeof field === 'string') takeId(field, at, idsTaken);
  }
  if (!read.has('effect')) FIELDS.effect(undefined, `${path}.effect`);
  if (!read.has('id')) {
    const id = `rule-${index + 1}`;
    takeId(id, `${path}.id`, idsTaken);
    read.set('id', id);
  }
  // Each value comes from its own field's reader, so the cast is safe; the fixed order makes the result independent of
  // the author's order.
  const entries = FIELD_NAMES.filter((name) => read.has(name)).map((name) => [
    name,
    read.get(name),
  ]);
  const rule = Object.fromEntries(entries) as PolicyRule;
  refuseUnreachable(rule, path);
  refuseStray(rule, path);
  return rule;
}

function refuseStray({ amount_at: at, amount_gt, amount_lte }: PolicyRule, path: string): void {
  if (at === undefined || amount_gt !== undefined || amount_lte !== undefined) return;
  throw bad(`${path}.amount_at`, 'It goes with amount_gt or amount_lte.');
}

function refuseUnreachable({ effect, approvals = 1, approvers }: PolicyRule, path: string): void {
  if (approvals === 1) return;
  const at = `${path}.approvals`;
  if (effect !== 'require_approval') throw bad(at, 'Only `require_approval` asks several people.');
  if (approvers && approvers.length < approvals) {
    throw bad(at, `List at least ${approvals} approvers, or leave them out.`);
  }
}

function takeId(id: string, path: string, idsTaken: Set<string>): void {
  if (idsTaken.has(id)) {
    throw bad(path, `An earlier rule already has the id \`${id}\`; use another.`);
  }
  idsTaken.add(id);
}

function isField(name: string): name is keyof PolicyRule {
  return Object.hasOwn(FIELDS, name);
}

function readId(value: unknown, path: string): string {
  if (typeof value === 'string' && /^[a-z0-9][a-z0-9_-]{0,62}$/.test(value)) return value;
  throw bad(path, 'Use 1 to 63 of a-z, 0-9, _ and -, starting with a letter or digit.');
}

function readAction(value: unknown, path: string): string {
  const action = readText(value, path, POLICY_ACTION_MAX_CHARS);
  if (/[\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(action)) {
    throw bad(path, "Remove invisible characters: people approving the rule can't see them.");
  }
  if (isPattern(action)) return action;
  throw bad(path, 'Write `*` at the end only: `pay.*` matches all that begins with `pay.`.');
}

function readDescription(value: unknown, path: string): string {
  return readText(value, path, POLICY_DESCRIPTION_MAX_CHARS);
}

/** One line of text whose characters appear in the order in which we compare them. */
function readText(value: unknown, path: string, maxChars: number): string {
  if (typeof value !== 'string' || value === '') throw bad(path, 'Write a non-empty text.');
  if (value.length > maxChars) throw bad(path, `Use at most ${maxChars} characters.`);
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(value)) {
    throw bad(path, 'Write one line without control characters.');
  }
  return value;
}

function readAmount(value: unknown, path: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw bad(path, 'Write a finite number such as `100`, with at most 15 digits.');
  }
  if (Object.is(value, -0)) throw bad(path, 'Write zero without a sign.');
  return value;
}

function readPointer(value: unknown, path: string): string {
  const pointer = value === '' ? '' : readText(value, path, POLICY_POINTER_MAX_CHARS);
  if (isPointer(pointer)) return pointer;
  throw bad(path, 'Write a JSON pointer such as `/amount` or `/lines/0/amount`.');
}

function readBind(value: unknown, path: string): Record<string, BindTest> {
  if (!isObject(value)) throw bad(path, 'Write an object such as `{"/currency": "EUR"}`.');
  const entries = Object.entries(value);
  if (entries.length === 0) throw bad(path, 'Name at least one value, or leave the field out.');
  if (entries.length > POLICY_ITEMS_MAX) throw bad(path, `Use at most ${POLICY_ITEMS_MAX}.`);
  const read = entries.map(([name, test]) => {
    const at = member(path, name);
    return [readPointer(name, at), readBindTest(test, at)] as const;
  });
  return Object.fromEntries(read);
}

/** One value or a list of them is short for `in`. */
function readBindTest(value: unknown, path: string): BindTest {
  if (!isObject(value)) return { in: valueOrList(readScalar)(value, path) };
  for (const name of Object.keys(value)) {
    if (['in', 'prefix', 'gt', 'lte', 'command', 'under'].includes(name)) continue;
    throw bad(
      member(path, name),
      'Only in, prefix, gt, lte, command and under test a bound value.',
    );
  }
  const { in: any, prefix, gt, lte, command, under } = value;
  const test = {
    ...(any !== undefined && { in: valueOrList(readScalar)(any, `${path}.in`) }),
    ...(prefix !== undefined && {
      prefix: readText(prefix, `${path}.prefix`, POLICY_ACTION_MAX_CHARS),
    }),
    ...(gt !== undefined && { gt: readAmount(gt, `${path}.gt`) }),
    ...(lte !== undefined && { lte: readAmount(lte, `${path}.lte`) }),
    ...(command !== undefined && {
      command: valueOrList(readCommand)(command, `${path}.command`),
    }),
    ...(under !== undefined && { under: valueOrList(readFolder)(under, `${path}.under`) }),
  };
  if (Object.keys(test).length > 0) return test;
  throw bad(path, 'Test it with in, prefix, gt, lte, command or under.');
}

function readCommand(value: unknown, path: string): string {
  const command = readText(value, path, POLICY_ACTION_MAX_CHARS);
  if (isCommandPattern(command)) return command;
  throw bad(
    path,
    'Write one plain command such as `npm test`, or `git log *` for any further words.',
  );
}

function readFolder(value: unknown, path: string): string {
  const folder = readText(value, path, POLICY_ACTION_MAX_CHARS);
  if (isPlainPath(folder)) return folder;
  throw bad(
    path,
    'Write an absolute path without `.`, `..` or a `/` at its end: `/home/ana/shop`.',
  );
}

function readScalar(value: unknown, path: string): string | number | boolean {
  if (typeof value === 'number') return readAmount(value, path);
  return typeof value === 'boolean' ? value : readText(value, path, POLICY_ACTION_MAX_CHARS);
}

function readDomain(value: unknown, path: string): string {
  const domain = typeof value === 'string' ? value : '';
  const problem = domainProblem(domain);
  if (problem !== null) throw bad(path, problem);
  return domain;
}

function readApprover(value: unknown, path: string): string {
  if (typeof value === 'string' && /^chn_[0-9a-z]{26}$/.test(value)) return value;
  throw bad(path, 'Write the id of a channel, `chn_…`, as channel_list shows it.');
}

function readApprovals(value: unknown, path: string): number {
  const isCount = typeof value === 'number' && Number.isInteger(value);
  if (isCount && value >= 1 && value <= APPROVALS_MAX) return value;
  throw bad(path, `Write a whole number from 1 to ${APPROVALS_MAX}.`);
}

function oneOf<T extends string>(options: readonly T[], advice = ''): Reader<T> {
  return (value, path) => {
    const option = options.find((known) => known === value);
    if (option === undefined) throw bad(path, `Write one of ${options.join(', ')}.${advice}`);
    return option;
  };
}

function valueOrList<T>(readItem: Reader<T>): Reader<readonly T[]> {
  const readList = listOf(readItem);
  return (value, path) => (Array.isArray(value) ? readList(value, path) : [readItem(value, path)]);
}

function listOf<T>(readItem: Reader<T>): Reader<readonly T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) throw bad(path, 'Write a list.');
    // We can't tell whether an empty list means nothing or everything.
    if (value.length === 0) throw bad(path, 'List at least one value, or leave the field out.');
    if (value.length > POLICY_ITEMS_MAX) throw bad(path, `Use at most ${POLICY_ITEMS_MAX}.`);
    return [...new Set(Array.from(value, (item: unknown, i) => readItem(item, `${path}[${i}]`)))];
  };
}

/** `rules[2].name`; quotes a name that could be mistaken for more of the path. */
function member(path: string, name: string): string {
  if (!/^[A-Za-z_]\w{0,63}$/.test(name)) return `${path}[${quoted(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}

/** Agents read the hint but not always the details, so both contain the path. */
function bad(path: string, problem: string): ServiceError {
  return new ServiceError('POLICY_INVALID', { details: { path }, hint: `${path}: ${problem}` });
}
