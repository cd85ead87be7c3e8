import type { CommandSpec } from '../command.ts';

const MOST = 4;

/** Where somebody goes on from a command, other than to those of the same noun. */
const RELATED: Readonly<Record<string, readonly string[]>> = {
  whoami: ['key list', 'auth token', 'project list'],
  usage: ['file list', 'kv list'],
  up: ['status', 'doctor', 'down', 'help environment'],
  down: ['up', 'status'],
  status: ['doctor', 'logs', 'up'],
  logs: ['status', 'doctor'],
  open: ['up', 'request watch', 'outbox open'],
  doctor: ['status', 'logs'],
  login: ['project list', 'logout', 'up'],
  logout: ['login', 'project list'],
  listen: ['inbox wait', 'inbox work', 'trigger'],
  trigger: ['source add', 'listen', 'inbox wait'],
  mcp: ['mcp install', 'help agents'],
  'mcp install': ['mcp', 'help agents'],
  api: ['auth token', 'help environment'],
  completion: ['help environment'],
  gateway: ['gateway backup', 'gateway project list', 'help environment'],
  'gateway rekey': ['gateway backup', 'gateway', 'help environment'],
  'inbox wait': ['inbox claim', 'inbox work', 'listen', 'help exit-codes'],
  'inbox claim': ['inbox ack', 'inbox nack', 'inbox extend', 'inbox work'],
  'inbox ack': ['inbox nack', 'inbox claim'],
  'inbox work': ['inbox wait', 'listen', 'help environment', 'help exit-codes'],
  'source add': ['trigger', 'source list', 'listen'],
  'source rotate': ['source list', 'source sign', 'trigger'],
  'source sign': ['trigger', 'webhook sign'],
  'route add': ['route test', 'route attempts', 'listen'],
  'ask approval': ['request status', 'request watch', 'policy test', 'help exit-codes'],
  'ask human': ['request status', 'request watch', 'help exit-codes'],
  'request status': ['request watch', 'ask approval', 'help exit-codes'],
  'channel add': ['channel list', 'ask approval', 'outbox open'],
  'policy set': ['policy diff', 'policy test', 'policy get'],
  'email send': ['email status', 'outbox show', 'policy test'],
  'email status': ['email send', 'inbox wait'],
  'file get': ['file put', 'file list', 'file url'],
  'kv get': ['kv set', 'kv list', 'help exit-codes'],
  'session hello': ['whoami', 'ledger query'],
  'auth token': ['key create', 'api', 'whoami'],
  'webhook sign': ['webhook verify', 'source sign', 'trigger'],
  'webhook verify': ['webhook sign', 'source add'],
};

/** Commands and pages to go on to, as they follow `svc`; without any of its own, others of the same noun. */
export function seeAlso(
  { words }: CommandSpec,
  commands: readonly CommandSpec[],
): readonly string[] {
  const name = words.join(' ');
  const related = RELATED[name];
  if (related) return related;
  const names = commands.map((one) => one.words.join(' '));
  return names.filter((one) => one !== name && one.split(' ')[0] === words[0]).slice(0, MOST);
}
