import { afterEach, describe, expect, it } from 'vitest';
import { refuse, type FakeDaemon } from '../fake-daemon.ts';
import { answering, ID, OWNER, record, svc, type Json, type Routes } from './fake-people.ts';

// What a person reads on a terminal, and that a pipe still gets the whole answer.

const STATUS = ['request', 'status', ID];

let daemon: FakeDaemon | undefined;
afterEach(() => daemon?.close());

async function given(routes: Routes, mail?: 'outbox' | 'smtp'): Promise<FakeDaemon> {
  daemon = await answering(routes, mail);
  return daemon;
}

async function shown(line: readonly string[], routes: Routes, columns = 100): Promise<string> {
  return (await svc(line, await given(routes), { terminal: true, columns })).stdout;
}

/** The answer as it comes in a pipe: whole. */
async function piped(line: readonly string[], answer: Json): Promise<void> {
  const { stdout } = await svc(line, daemon ?? { env: {} });
  expect(JSON.parse(stdout)).toEqual(answer);
}

describe('request status', () => {
  const route = `GET /v1/requests/${ID}`;

  it('says how it stands, what was asked, of whom and by whom', async () => {
    const one = record({
      kind: 'approval',
      status: 'approved',
      details: 'Line one\n\u001b[31mline two\n',
      amount: 12.5,
      options: ['now', 'later'],
      comment: 'go',
      decided_by: `channel:${OWNER}`,
      decided_at: '2026-01-02T11:59:30.000Z',
      rule: 'big',
      policy_version: 3,
      state_ref: 'task-7',
    });
    const lines = (await shown(STATUS, { [route]: one })).split('\n');
    expect(lines[0]).toMatch(/^✓ Approved by owner: go \(.+ ago\)$/);
    expect(lines.slice(1, -1).map((line) => line.replace(/\d+ days ago$/, 'N ago'))).toEqual([
      '',
      `Request   ${ID}`,
      'Kind      approval',
      'Action    deploy',
      'Summary   Deploy v2',
      'Amount    12.5',
      'Risk      medium',
      'Options   now, later',
      'Asked by  billing-bot on claude-code, N ago',
      'Asked     owner (email)',
      'Policy    rule big of version 3',
      'State     task-7',
      '',
      'Details (written by the agent)',
      '  Line one',
      '  line two',
    ]);
    await piped(STATUS, one);
  });

  it.each([
    ['pending', 6],
    ['approved', 0],
    ['modified', 0],
    ['answered', 0],
    ['denied', 5],
    ['expired', 5],
    ['needs_context', 5],
  ])('%s ends with %i', async (status, code) => {
    const fake = await given({ [route]: record({ status }) });
    expect((await svc(STATUS, fake, { terminal: true })).code).toBe(code);
    expect((await svc(STATUS, fake)).code).toBe(code);
  });

  it('says of a pending one when it expires and what waits for it, of others what to do', async () => {
    const open = await shown(STATUS, { [route]: record() });
    expect(open).toMatch(/\nExpires +in \d+ days\nNext +svc request watch req_/);
    daemon?.close();
    const by = { key_id: 'key_1', agent: null, platform: 'unknown' };
    const vague = { status: 'needs_context', hint: 'Ask anew.', requested_by: by };
    const text = await shown(STATUS, { [route]: record(vague) });
    expect(text).toContain('… More context is needed.\n  Ask anew.\n');
    expect(text).toContain('Asked by  an unnamed agent, ');
    expect(text).not.toContain('Expires');
  });

  it('says who approved, where several must', async () => {
    const other = 'chn_01j9z3k4m5n6p7q8r9s0t1v2w4';
    const at = '2026-01-02T11:59:30.000Z';
    const votes = [OWNER, other].map((channel_id) => ({ channel_id, at }));
    const open = record({ approvals: { needed: 2, given: votes.slice(0, 1) } });
    expect(await shown(STATUS, { [route]: open })).toMatch(
      /\nApproved +1 of 2: owner, \d+ days ago\n/,
    );
    daemon?.close();
    const list = { items: [open, record()], next_cursor: null };
    const table = await shown(['request', 'list'], { 'GET /v1/requests': list });
    expect(table).toMatch(
      /STATUS +SUMMARY +APPROVALS +KIND .*\n.* pending .* 1 of 2 .*\n.* pending .* – /,
    );
    daemon?.close();
    const approvals = { needed: 2, given: votes };
    const done = record({ status: 'approved', decided_by: `channel:${other}`, approvals });
    const text = await shown(STATUS, { [route]: done });
    expect(text).toMatch(new RegExp(`^✓ Approved by owner, ${other}\\.`));
  });
});

describe('policy', () => {
  const RULES = [
    {
      id: 'small',
      effect: 'auto_approve',
      action: ['payment.*'],
      amount_lte: 100,
      approvers: [OWNER],
    },
    { id: 'rest', effect: 'deny', description: 'No\u001b[2J!' },
  ];

  it('get: a rule a line', async () => {
    const policy = {
      version: 2,
      rules: RULES,
      note: 'Small ones',
      approved_by: 'x',
      approved_at: null,
    };
    expect((await shown(['policy', 'get'], { 'GET /v1/policy': policy }, 90)).split('\n')).toEqual([
      'Policy version 2',
      '  Small ones',
      '',
      `  1  small  auto_approve  when action is payment.* and amount <= 100; approvers`,
      `                          ${OWNER}`,
      '  2  rest   deny          everything; described as "No\\u001b[2J!"',
      '',
      'The first matching rule decides; if none matches, a person does.',
      '',
    ]);
    await piped(['policy', 'get'], policy);
  });

  it('get: none', async () => {
    const none = { version: 0, rules: [], note: null, approved_by: null, approved_at: null };
    expect(await shown(['policy', 'get'], { 'GET /v1/policy': none })).toBe(
      'No policy yet: every request goes to a person.\nPropose one: svc policy set @policy.json\n',
    );
  });

  it('test: how each rule comes out, and which one decides', async () => {
    const failed = [{ field: 'amount_lte', wanted: 'amount <= 100', given: 'the amount is 250' }];
    const step = { decides: false, matched: true, failed: [] };
    const tried = {
      version: 2,
      effect: 'deny',
      rule: 'rest',
      sentence: 'The rule rest decides: deny.',
      trace: [
        { ...step, rule: 'small', says: 'small: auto_approve …', matched: false, failed },
        { ...step, rule: 'rest', says: 'rest: deny everything', decides: true },
        { ...step, rule: 'late', says: 'late: allow everything' },
      ],
    };
    const line = ['policy', 'test', '--action', 'payment.refund', '--amount', '250'];
    expect((await shown(line, { 'POST /v1/policy/test': tried })).split('\n')).toEqual([
      '✗ small: auto_approve …',
      '    amount <= 100: no, the amount is 250',
      '✓ rest: deny everything',
      '✓ late: allow everything',
      '',
      'The rule rest decides: deny.',
      '',
    ]);
    expect(JSON.parse(daemon?.seen[0]?.body ?? '')).toEqual({
      action: 'payment.refund',
      amount: 250,
    });
    await piped(line, tried);
  });

  it('diff: the lines, and what the linter says on standard error', async () => {
    const warnings = [{ rule: 'b', message: 'b never decides.' }];
    const diff = { version: 1, changed: true, lines: ['- a: deny everything'], warnings };
    const fake = await given({ 'POST /v1/policy/diff': diff });
    const line = ['policy', 'diff', '{"rules":[]}'];
    expect(await svc(line, fake, { terminal: true })).toEqual({
      code: 0,
      stdout: 'Against version 1\n- a: deny everything\n',
      stderr: 'Warning: b never decides.\n',
    });
    await piped(line, diff);
    daemon?.close();
    const same = {
      'POST /v1/policy/diff': { version: 1, changed: false, lines: [], warnings: [] },
    };
    expect(await shown(line, same)).toBe('No changes: this is version 1.\n');
  });
});

describe('channel', () => {
  const channel = { id: 'chn_1', label: 'ana', kind: 'email', status: 'added' };
  const expires_at = '2999-01-01T00:00:00.000Z';
  const MAIL = ['channel', 'add', 'email', 'ana@example.com'];

  it('add says what happens next, and where the mail is', async () => {
    const added = { channel, verification_sent_to: 'a***@example.com', expires_at };
    const fake = await given({ 'POST /v1/channels': added });
    const { stdout, stderr } = await svc(MAIL, fake, { terminal: true });
    expect(stdout).toMatch(
      /^Added ana\. Before agents can ask them:\n1\. The person opens the link in the mail to a\*\*\*@example\.com, and confirms\. /,
    );
    expect(stdout).toContain('\n2. The owner approves the channel.\n');
    expect(stderr).toBe(
      'The mail is saved here, not mailed: no mail server is set. To read it: svc outbox open\n',
    );
    const asJson = await svc([...MAIL, '--json'], fake);
    expect([JSON.parse(asJson.stdout), asJson.stderr]).toEqual([added, '']);
  });

  it('add shows the link of Telegram on a line of its own', async () => {
    const start_url = 'https://t.me/svc_test_bot?start=t0ken';
    const added = { channel: { ...channel, kind: 'telegram' }, start_url, expires_at };
    const fake = await given({ 'POST /v1/channels': added });
    const { stdout, stderr } = await svc(['channel', 'add', 'telegram'], fake, { terminal: true });
    expect(stdout.split('\n')).toContain(`   ${start_url}`);
    expect(stderr).toBe('');
  });

  it.each([
    ['CHANNEL_KIND_UNAVAILABLE', 400, 1, 'SVC_TELEGRAM_TOKEN=… svc up'],
    ['UNAVAILABLE', 503, 7, "bot isn't connected yet"],
  ])('add without a bot: %s', async (code, status, exit, hint) => {
    const fake = await given({
      'POST /v1/channels': (_, response) => refuse(response, status, code),
    });
    const telegram = await svc(['channel', 'add', 'telegram'], fake);
    expect([telegram.code, telegram.stderr]).toEqual([exit, expect.stringContaining(hint)]);
    expect((await svc(MAIL, fake)).stderr).not.toContain(hint);
  });

  it('remove says what becomes of it', async () => {
    const removed = { id: 'chn_1', status: 'removed', removed_at: expires_at };
    const text = await shown(['channel', 'remove', 'chn_1'], {
      'DELETE /v1/channels/chn_1': removed,
    });
    expect(text).toMatch(/^Removed chn_1\. /);
  });
});
