import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { CONTROL_VALUES, PROJECT_VALUES } from '../../../gateway/admin/rekey/sealed-values.ts';

/** Columns of bytes, or of anything, that are not sealed. `meta` is both: one name of each database is. */
const OPEN = ['event.body_hash', 'event_content.body', 'kv.value', 'state_version.value'];
/** Hashes that are keyed by the master key, all of which are made anew with what they are of. */
const KEYED = [
  'account.address_hash',
  'account.mailbox_hash',
  'channel.address_hash',
  'invitation.mailbox_hash',
  'known_network.network_hash',
  'login.address_hash',
  'login.rate_hash',
  'member.address_hash',
  'membership.address_hash',
  'telegram_chat.chat_hash',
  'ui_link.rate_hash',
];
/** They count starts of the last hour by network: the next ones count anew. */
const BRIEF = ['login.network_hash', 'ui_link.network_hash'];

/** The columns of `schema.sql` whose definition a pattern finds. */
function columnsLike(pattern: RegExp): string[] {
  const schema = readFileSync('test/store/schema.sql', 'utf8');
  const tables = [...schema.matchAll(/CREATE TABLE "?(\w+)"? \(([^;]*)\)/g)];
  return tables.flatMap(([, table = '', body = '']) =>
    body
      // A column that was added later stands behind the one before, in its line.
      .split(/\n(?:, )?|, (?=\w+ [A-Z]+\b)/)
      .map((line) => pattern.exec(line.trim())?.[1])
      .filter((column) => column !== undefined)
      .map((column) => `${table}.${column}`),
  );
}

const all = [...CONTROL_VALUES, ...PROJECT_VALUES];

it('every column of bytes is known as sealed or open', () => {
  const sealed = all.map(({ table, column }) => `${table}.${column}`);
  const found = new Set(columnsLike(/^(\w+) (?:BLOB|ANY)/));
  expect([...found].toSorted()).toEqual([...new Set([...sealed, ...OPEN])].toSorted());
});

it('every keyed hash is made anew', () => {
  const row = { kind: 'email' };
  const made = all.flatMap(({ table, signed }) =>
    Object.keys(signed?.('ana@example.com', row, 'prj_0') ?? {}).map((name) => `${table}.${name}`),
  );
  expect(made.toSorted()).toEqual(KEYED);
  // The others that end so are of addresses, too, or are of secrets and not keyed.
  const named = columnsLike(/^((?:address|chat|mailbox|network|rate)_hash) /);
  expect(named.toSorted()).toEqual([...KEYED, ...BRIEF].toSorted());
});
