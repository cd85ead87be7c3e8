import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { run } from '../../../cli/run.ts';
import type { FakeDaemon } from '../fake-daemon.ts';
import { refuse } from '../fake-daemon.ts';
import { TextSink } from '../fake-output.ts';
import {
  answer,
  answering,
  ID,
  OWNER,
  record,
  svc,
  type Json,
  type Routes,
} from './fake-people.ts';

const ASK = ['ask', 'approval', 'deploy', 'Deploy v2'];
const BY_OWNER = { decided_by: `channel:${OWNER}` };
const IN_OUTBOX = 'is saved here, not mailed: no mail server is set. To decide: svc outbox open\n';

let daemon: FakeDaemon | undefined;
afterEach(() => daemon?.close());

async function given(routes: Routes, mail?: 'outbox' | 'smtp'): Promise<FakeDaemon> {
  daemon = await answering(routes, mail);
  return daemon;
}

function decided(fields: Json): Routes {
  return { 'POST /v1/requests': answer(fields) };
}

/** Holds the call back and lists it as pending. */
function holding(items: readonly Json[]): Routes {
  return {
    'POST /v1/requests': () => undefined,
    'GET /v1/requests': { items, next_cursor: null },
  };
}

/** Ends the wait once the last thing was asked for: where messages are kept, unless told otherwise. */
async function interrupted(
  routes: Routes,
  line: readonly string[] = ASK,
  last = '/_daemon/status',
) {
  const fake = await given(routes);
  const abort = new AbortController();
  const ended = svc(line, fake, { signal: abort.signal });
  await expect.poll(() => fake.seen.map(({ url }) => url), { timeout: 60_000 }).toContain(last);
  // What was answered just now is still to be read.
  await sleep(100);
  abort.abort();
  return { ...(await ended), fake };
}

describe('a decision', () => {
  it.each([
    [{ status: 'approved', ...BY_OWNER }, 0, '✓ Approved by owner.'],
    [{ status: 'approved', comment: 'go ahead', ...BY_OWNER }, 0, '✓ Approved by owner: go ahead'],
    [
      { status: 'approved', decided_by: 'policy:small' },
      0,
      '✓ Approved by the policy (rule small).',
    ],
    [
      { status: 'modified', decision: 'at night', ...BY_OWNER },
      0,
      '✓ Approved by owner, choosing "at night".',
    ],
    [{ status: 'answered', decision: 'eu-west', ...BY_OWNER }, 0, '✓ Answered by owner: eu-west'],
    [{ status: 'denied', comment: 'no', ...BY_OWNER }, 5, '✗ Denied by owner: no'],
    [{ status: 'denied', decided_by: 'channel:chn_gone' }, 5, '✗ Denied by chn_gone.'],
    [{ status: 'expired' }, 5, "✗ Expired: nobody decided in time, so it isn't approved."],
    [
      { status: 'needs_context', comment: 'which one?', ...BY_OWNER },
      5,
      '… More context is needed, says owner: which one?',
    ],
  ])('%j', async (fields, code, sentence) => {
    const fake = await given(decided(fields));
    const person = await svc(ASK, fake, { terminal: true });
    expect(person.stdout.split('\n')[0]).toBe(sentence);
    expect(person).toMatchObject({ code, stderr: '' });
    const piped = await svc(ASK, fake);
    expect(piped).toEqual({ code, stdout: `${JSON.stringify(answer(fields))}\n`, stderr: '' });
  });

  it('of several lines stands as it was written, without what a terminal would obey', async () => {
    const decision = 'First:\n\u001b[2Jnorth\u202e\n  then south\n';
    const fake = await given(decided({ status: 'answered', decision, ...BY_OWNER }));
    const { stdout } = await svc(['ask', 'human', 'Where?'], fake, { terminal: true });
    expect(stdout).toBe(`✓ Answered by owner:\n  First:\n  north\n    then south\n  ${ID}\n`);
  });

  it('that nobody made is no denial: 6, with the next command and where the question went', async () => {
    const fake = await given(decided({}));
    const person = await svc([...ASK, '--wait-seconds', '0'], fake, { terminal: true });
    expect(person.code).toBe(6);
    expect(person.stdout).toMatch(
      /^… Not decided yet\. This isn't a denial\. The request expires in \d+ days\.\n/,
    );
    expect(person.stdout).toContain(`  Request  ${ID}\n  Next     svc request watch ${ID}\n`);
    expect(person.stderr).toBe(`The question ${IN_OUTBOX}`);
    const piped = await svc([...ASK, '--wait-seconds', '0'], fake);
    expect(piped).toEqual({
      code: 6,
      stdout: `${JSON.stringify(answer())}\n`,
      stderr: `Still pending. Next: svc request watch ${ID}\nThe question ${IN_OUTBOX}`,
    });
    const asJson = await svc([...ASK, '--wait-seconds', '0', '--json'], fake);
    expect(asJson).toMatchObject({ code: 6, stderr: '' });
  });

  it('is not looked for in the outbox where mail is sent', async () => {
    const fake = await given(decided({}), 'smtp');
    const { stderr } = await svc([...ASK, '--wait-seconds', '0'], fake);
    expect(stderr).toBe(`Still pending. Next: svc request watch ${ID}\n`);
  });
});

describe('the call', () => {
  it('carries what was typed, and may take as long as the wait', async () => {
    const fake = await given(decided({ status: 'approved' }));
    const flags = ['--amount', '12.5', '--options', 'a,b', '--risk', 'low', '--wait-seconds', '7'];
    await svc([...ASK, ...flags], fake);
    expect(JSON.parse(fake.seen[0]?.body ?? '')).toEqual({
      action: 'deploy',
      summary: 'Deploy v2',
      amount: 12.5,
      options: ['a', 'b'],
      risk: 'low',
      wait_seconds: 7,
    });
  });

  it('that is refused asks nobody, and is not repeated', async () => {
    const fake = await given({
      'POST /v1/requests': (_, response) => refuse(response, 429, 'TOO_MANY_PENDING_REQUESTS'),
    });
    const { code, stdout, stderr } = await svc(ASK, fake);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('TOO_MANY_PENDING_REQUESTS');
    expect(fake.seen).toHaveLength(1);
  });

  it('fails at once where there is no daemon', async () => {
    const { code, stderr } = await svc(ASK, { env: { SVC_HOME: '/nonexistent' } });
    expect(code).toBe(7);
    expect(stderr).toContain("The daemon isn't running, and no key is stored here.");
  });
});

describe('while it waits', () => {
  it('says where the question went; Ctrl-C leaves it there and says how to pick it up', async () => {
    const { code, stdout, stderr, fake } = await interrupted(holding([record()]));
    expect([code, stdout]).toEqual([130, '']);
    const key = String(fake.seen[0]?.headers['idempotency-key']);
    expect(stderr).toBe(
      `The question ${IN_OUTBOX}The request stays open. To resume waiting: svc request watch ${ID}\n` +
        `Or repeat the command with: --idempotency-key=${key}\n`,
    );
    expect(fake.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /v1/requests',
      'GET /v1/requests?status=pending&limit=10',
      'GET /_daemon/status',
    ]);
  });

  it.each([
    ['another summary', [record({ summary: 'Deploy v3' })]],
    ['two of the same at once', [record(), record({ request_id: 'req_other' })]],
  ])('names no request that may be another: %s', async (_, items) => {
    const { stderr } = await interrupted(holding(items));
    expect(stderr).toContain(
      'Requests you already made stay open. See: svc request list --status pending\n',
    );
    expect(stderr).not.toContain('req_');
  });

  it('names the newer of two that were asked apart', async () => {
    const old = record({ request_id: 'req_old', created_at: '2026-01-01T00:00:00.000Z' });
    expect((await interrupted(holding([record(), old]))).stderr).toContain(ID);
  });

  it('does not speak of the outbox where only Telegram was told', async () => {
    const notified = [{ channel_id: OWNER, kind: 'telegram', status: 'sent', at: null }];
    const looked = '/v1/requests?status=pending&limit=10';
    const { stderr } = await interrupted(holding([record({ notified })]), ASK, looked);
    expect(stderr).not.toContain('outbox');
  });

  it.each([
    [['ask', 'human', 'Where?'], { kind: 'question', question: 'Where?', action: null }],
    [['policy', 'set', '{"rules":[]}'], { kind: 'policy', action: 'policy_set' }],
    [
      ['file', 'url', 'disk://a b.pdf'],
      { kind: 'file_url', summary: 'Share a b.pdf by a public link for 3600 seconds' },
    ],
  ])('finds its request: %j', async (line, fields) => {
    const routes = {
      ...holding([record({ request_id: 'req_other' }), record(fields)]),
      'PUT /v1/policy': () => undefined,
      'POST /v1/file-urls': () => undefined,
      'POST /v1/policy/diff': { version: 0, changed: false, lines: [], warnings: [] },
    };
    expect((await interrupted(routes, line)).stderr).toContain(`svc request watch ${ID}\n`);
  });
});

describe('--until-decided', () => {
  it('goes on beyond the seconds of the call', async () => {
    const records = [record(), record({ status: 'approved', comment: 'late', ...BY_OWNER })];
    const fake = await given({
      'POST /v1/requests': answer(),
      [`GET /v1/requests/${ID}`]: () => records.shift() ?? null,
    });
    const line = [...ASK, '--wait-seconds', '0', '--until-decided', '--json'];
    const { code, stdout, stderr } = await svc(line, fake);
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toEqual(
      answer({ status: 'approved', comment: 'late', ...BY_OWNER }),
    );
  });
});

describe('file url', () => {
  it('gives the link, or the call that picks it up', async () => {
    const link = { url: 'http://x/f/1', expires_at: '2999-01-01T00:00:00.000Z', link_id: 'lnk_1' };
    const pending = { status: 'pending', request_id: ID, comment: null };
    const answers: Json[] = [link, pending, { ...pending, status: 'denied', comment: 'no' }];
    const fake = await given({ 'POST /v1/file-urls': () => answers.shift() ?? null });
    expect(await svc(['file', 'url', 'a.pdf'], fake)).toEqual({
      code: 0,
      stdout: `${JSON.stringify(link)}\n`,
      stderr: '',
    });
    const line = ['file', 'url', "it's a.pdf", '--expires-in', '60', '--wait-seconds', '0'];
    const open = await svc(line, fake, { terminal: true });
    expect(open.code).toBe(6);
    expect(open.stdout).toContain(
      `  Next     svc file url 'it'\\''s a.pdf' --expires-in 60 --approval ${ID}\n`,
    );
    const denied = await svc(['file', 'url', 'a.pdf'], fake, { terminal: true });
    expect(denied).toMatchObject({ code: 5, stdout: `✗ Denied: no\n  ${ID}\n` });
  });
});

describe('policy set', () => {
  const preview = {
    version: 3,
    changed: true,
    lines: ['  a: deny everything', '+ b: allow everything'],
    warnings: [{ rule: 'b', message: 'b never decides.' }],
  };
  const applied = { ...answer({ status: 'approved', ...BY_OWNER }), warnings: preview.warnings };
  const routes = { 'POST /v1/policy/diff': preview, 'PUT /v1/policy': applied };

  it('shows what changes and warns before it waits', async () => {
    const fake = await given(routes);
    const { code, stdout, stderr } = await svc(['policy', 'set', '{"rules":[]}'], fake, {
      terminal: true,
    });
    expect(code).toBe(0);
    expect(stdout).toBe(
      'Against version 3\n  a: deny everything\n+ b: allow everything\n\n' +
        `✓ Approved by owner.\n  The new policy is in force. See it with: svc policy get\n  ${ID}\n`,
    );
    expect(stderr).toBe('Warning: b never decides.\n');
    expect(fake.seen.map(({ url }) => url)).toEqual([
      '/v1/policy/diff',
      '/v1/policy',
      '/v1/channels',
      `/v1/requests/${ID}/received`,
    ]);
  });

  it('answers JSON in a pipe, and with --json not a word beside it', async () => {
    const fake = await given(routes);
    const piped = await svc(['policy', 'set', '{"rules":[]}'], fake);
    expect(piped).toEqual({
      code: 0,
      stdout: `${JSON.stringify(applied)}\n`,
      stderr: 'Warning: b never decides.\n',
    });
    const asJson = await svc(['policy', 'set', '{"rules":[]}', '--json'], fake);
    expect(asJson).toMatchObject({ code: 0, stderr: '' });
  });

  it('takes what policy get printed, and a document with anything else as it is', async () => {
    const fake = await given(routes);
    const file = join(fake.folder, 'policy.json');
    const told = {
      version: 3,
      rules: [{ id: 'a' }],
      note: 'x',
      approved_by: null,
      approved_at: null,
    };
    writeFileSync(file, JSON.stringify(told));
    await svc(['policy', 'set', `@${file}`, '--json', '--wait-seconds', '0'], fake);
    await svc(['policy', 'diff', '{"rules":[],"rulez":1}'], fake);
    // While an answer takes long, it also looks who is asked.
    const sent = fake.seen.filter(({ url }) => url.startsWith('/v1/policy'));
    expect(sent.map(({ body }): unknown => JSON.parse(body))).toEqual([
      { policy: { rules: [{ id: 'a' }] }, wait_seconds: 0 },
      { policy: { rules: [], rulez: 1 } },
    ]);
  });
});

describe('the event of a decision that was printed', () => {
  const RECEIVED = `/v1/requests/${ID}/received`;
  const confirmations = (fake: FakeDaemon) => fake.seen.filter(({ url }) => url === RECEIVED);

  it.each([
    ['answered while the call was held', decided({ status: 'answered', ...BY_OWNER })],
    ['denied', decided({ status: 'denied', ...BY_OWNER })],
    ['expired', decided({ status: 'expired' })],
  ])('is closed: %s', async (_, routes) => {
    const fake = await given({ ...routes, [`POST ${RECEIVED}`]: { closed: true } });
    expect((await svc(ASK, fake)).stderr).toBe('');
    expect(confirmations(fake)).toHaveLength(1);
  });

  it('is closed after a look that found it', async () => {
    const fake = await given({
      'POST /v1/requests': answer(),
      [`GET /v1/requests/${ID}`]: record({ status: 'approved', ...BY_OWNER }),
      [`POST ${RECEIVED}`]: { closed: true },
    });
    await svc([...ASK, '--until-decided', '--wait-seconds', '0'], fake);
    expect(confirmations(fake)).toHaveLength(1);
  });

  it('needs no word where there is none: pending, or decided by the policy', async () => {
    for (const fields of [{}, { status: 'approved', decided_by: 'policy:small' }]) {
      const fake = await given(decided(fields));
      await svc([...ASK, '--wait-seconds', '0'], fake);
      expect(confirmations(fake)).toEqual([]);
      fake.close();
    }
  });

  it.each([404, 403, 500, 503])('may stay open, which is no failure: %i', async (status) => {
    const routes = decided({ status: 'approved', ...BY_OWNER });
    const fake = await given({
      ...routes,
      [`POST ${RECEIVED}`]: (_, response) => refuse(response, status, 'NOT_DONE'),
    });
    expect(await svc([...ASK, '--retry-for', '1h'], fake)).toMatchObject({ code: 0, stderr: '' });
    expect(confirmations(fake)).toHaveLength(1);
  });

  it('stays open where standard output took no answer', async () => {
    const fake = await given(decided({ status: 'approved', ...BY_OWNER }));
    const stdout = {
      write: (_: unknown, done?: (error: Error) => void) => done?.(new Error('EPIPE')),
    };
    const { signal } = new AbortController();
    await run(ASK, { env: fake.env, stdout, stderr: new TextSink(), signal });
    expect(confirmations(fake)).toEqual([]);
  });

  it.each([['.status'], ['.request_id, .status']])('is closed with --jq %s', async (jq) => {
    const routes = decided({ status: 'approved', ...BY_OWNER });
    const fake = await given({ ...routes, [`POST ${RECEIVED}`]: { closed: true } });
    expect((await svc([...ASK, '--jq', jq], fake)).stdout).toContain('approved\n');
    expect(confirmations(fake)).toHaveLength(1);
  });
});
