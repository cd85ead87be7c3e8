import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SAMPLE_NAMES } from '../../shared/rules/inbox/sample-names.ts';
import { allCommands } from '../../cli/tree.ts';
import { hasTerminals } from '../docs/stage.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { findProgram } from '../helpers/programs.ts';
import { required } from '../helpers/require.ts';

const examples = allCommands().flatMap((command) => command.examples);

/** What is not run here: it needs a gateway, a person, the network or a terminal, goes on for ever, or ends the daemon. */
const NOT_HERE = [
  /^(?:login|logout|gateway|up|down|listen|ask|mcp$|mcp --|mcp (?:un)?install (?!cursor --print)|hook (?!install gemini --print))/,
  /^project (?:create|use shop|rename|delete)|^member (?:list|invite|role|remove)|^(?:auth token|env) --profile|^outbox (?:show|open)|^open(?: requests)?$/,
  /^route (?:add|remove|enable|disable|attempts|retry|test)|^request (?:status|watch|withdraw|received|use)|^inbox (?:park|tail|next --|ack .* --spends|work --exec 'svc)|^once (?:review|label)|^channel (?:add|remove)|^policy (?:set|suggest --apply)/,
  /^email|^kv touch session|^file url|^file get (?:data|.* \/tmp\/)|^file sync.*--down|^trigger email\.reply|^state load|^logs -f|^inbox work --type/,
  /^key (?:get|revoke|rotate)|^ledger (?:verify --|export)|^story|^completion|^api POST|\| curl |^webhook verify|^inbox wait --type|^kv delete lock/,
];

/** Run one after another: what makes something before what needs it. */
const SCENARIO = [
  'whoami',
  'whoami --json',
  'env',
  'env --show-key > svc.env',
  'status',
  'status --json | jq -r .base_url',
  'status --json | jq .replica',
  'session hello --agent billing-bot --platform claude-code',
  'key list',
  'key create --name ci --scopes inbox:read,inbox:write',
  'key create --name team-a --scopes disk --disk-prefix team-a/',
  'key create --name audit --scopes ledger:read --expires-at 2030-01-01T00:00:00Z',
  'source add github --verification github --secret @secret.txt',
  'source add stripe --verification stripe --secret "$STRIPE_WEBHOOK_SECRET"',
  'source add mail --type email',
  'source add build-bot --verification hmac_sha256 --secret @secret.txt --signature-header x-build-signature',
  'source list',
  'source get github',
  'source get github --steps',
  'source rotate github --secret @new-secret.txt',
  'source rotate github --secret @new-secret.txt --previous-valid-seconds 0',
  'source sign github --body-base64 "$(base64 -w0 body.json)"',
  'trigger github.pull_request.opened',
  'trigger stripe.invoice.paid --set data.object.amount_paid=9900',
  'trigger webhook --source build-bot --count 5',
  'trigger email --set subject="Where is my order?"',
  'trigger --list',
  'inbox list',
  "inbox list --type 'invoice.*' --limit 50",
  'inbox list --status dead --json',
  'inbox list --status waiting',
  'inbox list --status all --newest',
  'inbox wait',
  'inbox next',
  'inbox get evt_01j9z3k4m5n6p7q8r9s0t1v2w3',
  'inbox get evt_01j9z3k4m5n6p7q8r9s0t1v2w3 --raw > body',
  'inbox link evt_01j9z3k4m5n6p7q8r9s0t1v2w3',
  'inbox claim evt_01j9z3k4m5n6p7q8r9s0t1v2w3',
  'inbox extend evt_01j9z3k4m5n6p7q8r9s0t1v2w3 --lease-seconds 600',
  'inbox ack evt_01j9z3k4m5n6p7q8r9s0t1v2w3',
  `inbox ack evt_01j9z3k4m5n6p7q8r9s0t1v2w3 --result '{"ticket": 42}'`,
  'inbox claim evt_01j9z3k4m5n6p7q8r9s0t1v2w3 --lease-seconds 60',
  'inbox nack evt_01j9z3k4m5n6p7q8r9s0t1v2w3 --reason "payment provider is down"',
  'inbox nack evt_01j9z3k4m5n6p7q8r9s0t1v2w3 --reason "not for us" --retry false',
  'inbox nack evt_01j9z3k4m5n6p7q8r9s0t1v2w3 --until +2h',
  'inbox requeue evt_01j9z3k4m5n6p7q8r9s0t1v2w3',
  'inbox replay evt_01j9z3k4m5n6p7q8r9s0t1v2w3',
  'inbox replay --status dead --source github --dry-run',
  "inbox replay --status done --type 'invoice.*' --since 2026-11-20T00:00:00Z",
  "inbox work --source github --exec 'jq -r .payload.action' --drain",
  "inbox work --exec './handle.sh'",
  'source remove github',
  'route list',
  'request list',
  'request list --status pending',
  'request callback secret',
  'channel list',
  'policy get',
  'policy get --json > policy.json',
  'policy test --action payment.refund --amount 80',
  `policy test --action payment.refund --amount 20 --bind '{"amount":20,"currency":"EUR"}'`,
  'policy test --tool email_send --recipient-domains example.com --policy @policy.json',
  'policy diff @policy.json',
  'policy suggest',
  `kv set last-run '{"at":"2026-01-02","ok":true}'`,
  'kv get last-run',
  'kv get last-run --raw',
  'kv set config @config.json',
  `kv set lock '"agent-1"' --ttl-seconds 60 --if-version 0`,
  'once charge --key order-1042 -- ./charge.sh 1042',
  'kv incr invoices/count',
  'kv incr stock/lamp --by -2',
  'kv touch config',
  'kv mget last-run config',
  'kv list example/ --values --json',
  'kv list',
  'kv list example/ --limit 100',
  'kv delete last-run',
  `state save deploy-42 '{"step":3}' --note "waits for approval"`,
  'state save deploy-42 @state.json',
  'state history deploy-42',
  'file put report.pdf',
  'file put build/report.pdf reports/may.pdf',
  'file put - backups/shop.sql < shop.sql',
  'file put data.bin exports/data --content-type text/csv',
  'file list',
  'file list reports/ --limit 100',
  "file list --json | jq -r '.items[].path'",
  'file get reports/may.pdf',
  'file sync ./site site',
  'file sync ./site site --delete --dry-run',
  'file delete reports/may.pdf',
  'usage',
  'usage --json | jq .disk.used_bytes',
  'ledger query --op inbox_ack --limit 10',
  'ledger query --subject evt_01j9z3k4m5n6p7q8r9s0t1v2w3',
  'ledger query --actor policy:small-refunds',
  'ledger verify',
  'project list',
  "project list --json | jq -r '.items[].project.id'",
  'project use default',
  'logs',
  "logs -n 500 | jq 'select(.level >= 50)'",
  'doctor',
  'doctor --json',
  'open --print',
  'outbox list',
  "outbox list --json | jq -r '.items[].id'",
  'webhook sign --scheme github --secret @secret.txt --body @push.json',
  'mcp install cursor --print',
  'hook install gemini --print',
  'auth token',
  'api GET /v1/whoami',
  'api GET /v1/openapi.json > openapi.json',
];

/** What they take, as the examples name it. */
const FILES: Readonly<Record<string, string>> = {
  'secret.txt': 'a-secret-of-the-sender',
  'new-secret.txt': 'another-secret-of-the-sender',
  'body.json': '{"ok":true}',
  'push.json': '{"ref":"refs/heads/main"}',
  'config.json': '{"region":"eu"}',
  'state.json': '{"step":4}',
  'report.pdf': 'a report',
  'build/report.pdf': 'a report of May',
  'shop.sql': 'select 1;',
  'data.bin': 'a,b\n',
  'site/index.html': '<p>hello</p>',
};

const place = temporaryFolder();
const here = join(place.path, 'here');
const env = {
  PATH: [join(place.path, 'bin'), process.env['PATH']].join(delimiter),
  HOME: place.path,
  SVC_HOME: join(place.path, 'home'),
  STRIPE_WEBHOOK_SECRET: 'whsec_c2VjcmV0IG9mIHRoZSBzZW5kZXI=',
};

beforeAll(() => {
  for (const folder of ['bin', 'home', 'here/build', 'here/site']) {
    mkdirSync(join(place.path, folder), { recursive: true, mode: 0o700 });
  }
  symlinkSync(resolve('dist/svc.cjs'), join(place.path, 'bin', 'svc'));
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(here, name), text);
  for (const name of ['handle.sh', 'charge.sh']) {
    writeFileSync(join(here, name), '#!/bin/sh\ncat\n', { mode: 0o755 });
  }
  sh('svc up --port 0');
});
afterAll(() => {
  sh('svc down');
  place.remove();
});

function sh(line: string): string {
  return execFileSync('sh', ['-c', line], { env, cwd: here, encoding: 'utf8' });
}

/** An event in the state that the example begins with. */
function eventFor(example: string): string {
  sh('svc trigger webhook --source build-bot');
  const id = sh("svc inbox list --json | jq -r '.items[-1].id'").trim();
  if (/^inbox (?:ack|nack|extend|requeue|replay)/.test(example)) sh(`svc inbox claim ${id}`);
  if (/^inbox (?:requeue|replay)/.test(example))
    sh(`svc inbox nack ${id} --reason x --retry false`);
  return id;
}

const onTerminal = required('svc up', hasTerminals(), 'needs `script` of util-linux');

it.runIf(onTerminal)('what svc up proposes to try can be sent', () => {
  const shown = sh("script -qec 'svc up' /dev/null < /dev/null");
  const [, sample = ''] = /svc trigger (\S+)/.exec(shown) ?? [];
  expect(SAMPLE_NAMES).toContain(sample);
});

it('every example is run here or known not to be', () => {
  const others = examples.filter((one) => !NOT_HERE.some((pattern) => pattern.test(one)));
  expect(SCENARIO.toSorted()).toEqual(others.toSorted());
});

it
  .runIf(required('the examples of help', findProgram('jq') !== null, 'jq is not installed'))
  .each(SCENARIO)('svc %s', (example) => {
  const real = example.replace(/evt_01j9\w+/, () => eventFor(example));
  // Workers go on for ever: so many events as there are.
  const line = real === "inbox work --exec './handle.sh'" ? `${real} --drain` : real;
  const { status, stderr } = spawnSync('sh', ['-c', `svc ${line}`], {
    env,
    cwd: here,
    encoding: 'utf8',
  });
  expect(stderr).not.toMatch(/^[A-Z_]+: /m);
  expect(status).toBe(0);
});
