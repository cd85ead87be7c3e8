import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorEntry, type ErrorCode } from '../../shared/lib/errors.ts';
import { operations } from '../../shared/operations/index.ts';
import { TestGateway } from '../helpers/gateway.ts';
import { Contract } from './contract.ts';
import { wholeDocument } from './doors/document.ts';
import { REFUSALS } from './refusals.ts';
import { World, type Answer } from './scenario.ts';
import { Stage } from './stage.ts';

const contract = new Contract(wholeDocument());

function expectRefusal(answer: Answer, code: ErrorCode, operation: string): void {
  const { status, message } = errorEntry(code);
  expect([answer.status, answer.body]).toMatchObject([status, { error: { code, message } }]);
  expect(contract.faults(operation, answer.status, answer.body)).toEqual([]);
  const { retry_after: wait } = (detailsOf(answer) ?? {}) as { retry_after?: number };
  expect(answer.headers.get('retry-after')).toBe(wait === undefined ? null : String(wait));
  expect(status !== 429 || Number(wait) > 0).toBe(true);
  expect(code !== 'NOT_FOUND' || NAMED.test(String(hintOf(answer)))).toBe(true);
}

/** What was not found stands in the hint. */
const NAMED =
  /^No (?:file|key|source) (?:"?nothing"?|nobody) in this project\.|^No [a-z]+ [a-z]{3}_[0-9a-z]{26} in this project/;

function hintOf({ body }: Answer): unknown {
  return (body['error'] as { hint?: unknown } | undefined)?.hint;
}

function detailsOf({ body }: Answer): unknown {
  return (body['error'] as { details?: unknown } | undefined)?.details;
}

/** What the key decides, and what the input alone. */
const UNRECORDED = [
  'SCOPE_MISSING',
  'PAYLOAD_TOO_LARGE',
  'CALLBACK_URL_REJECTED',
  'DETAILS_REQUIRED',
  'POLICY_INVALID',
  'CHANNEL_KIND_UNAVAILABLE',
  'CHANNEL_ADDRESS_REJECTED',
];

/** Whether a refusal leaves an entry: not one of what only reads. */
function isRecorded(name: string, code: string): boolean {
  const writes = operations.some((one) => one.name === name && one.effect === 'write');
  // A wait is refused before there is a transaction.
  return writes && !UNRECORDED.includes(code) && code !== 'TOO_MANY_WAITS';
}

describe('the codes an operation declares', () => {
  it('are all exercised here, and no others', () => {
    const declared = operations.filter(({ errors }) => errors.length > 0);
    const exercised = Object.entries(REFUSALS).map(([name, codes]) => [
      name,
      Object.keys(codes).toSorted(),
    ]);
    expect(Object.fromEntries(exercised)).toEqual(
      Object.fromEntries(declared.map(({ name, errors }) => [name, errors.toSorted()])),
    );
  });
});

describe.each(Object.entries(REFUSALS))('%s refuses with', (name, codes) => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await Stage.open();
  });
  afterAll(() => stage.close());

  it.each(Object.entries(codes))('%s', async (code, refuse) => {
    expectRefusal(await refuse(stage), code as ErrorCode, name);
    // A refusal that depends on the state of the project is on record, and the record is sound.
    const { items } = await stage.get('ledger_query', { op: name, limit: 500 });
    const recorded = (items as { code: string | null }[]).filter((entry) => entry.code === code);
    expect(recorded).toHaveLength(isRecorded(name, code) ? 1 : 0);
    expect(await stage.get('ledger_verify', {})).toMatchObject({ ok: true });
  });
});

describe('what a refusal of the disk tells', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await Stage.open();
  });
  afterAll(() => stage.close());

  it('which limit would be passed, and what is used of it', async () => {
    const key = { key: 'a', value: 1 };
    const keys = await stage.whileFull('keys', 10_000, () => stage.run('kv_set', key));
    expect(detailsOf(keys)).toEqual({ kind: 'keys', limit: 10_000, used: 10_000 });
    const GIB = 1_073_741_824;
    const bytes = await stage.whileFull('file_bytes', GIB, () => stage.run('kv_set', key));
    expect(detailsOf(bytes)).toEqual({ kind: 'bytes', limit: GIB, used: GIB });
    // What an upload may bring counts from the start.
    const upload = { path: 'a', upload: { size: 2 } };
    const almost = await stage.whileFull('key_bytes', GIB - 1, () => stage.run('file_put', upload));
    expect(detailsOf(almost)).toEqual({ kind: 'bytes', limit: GIB, used: GIB - 1 });
  });

  it('when the first of too many uploads ends', async () => {
    for (let upload = 0; upload < 3; upload += 1) {
      await stage.get('file_put', { path: 'often', upload: { size: 1 } });
      stage.clock.advance(10_000);
    }
    const refused = await stage.run('file_put', { path: 'often', upload: { size: 1 } });
    expect(detailsOf(refused)).toEqual({ limit: 3, used: 3, retry_after: 870 });
    expect(refused.headers.get('retry-after')).toBe('870');
    stage.clock.advance(870_000);
    await stage.get('file_put', { path: 'often', upload: { size: 1 } });
  });

  it('which upload lacks its bytes, and until when', async () => {
    const path = 'late';
    const { upload_id, expires_at } = await stage.get('file_put', { path, upload: { size: 5 } });
    const input = { path, complete: upload_id };
    expect(detailsOf(await stage.run('file_put', input))).toEqual({
      upload_id,
      size: 5,
      expires_at,
    });
    const elsewhere = await stage.run('file_put', { ...input, path: 'elsewhere' });
    expectRefusal(elsewhere, 'NOT_FOUND', 'file_put');
  });

  it('which version stands there', async () => {
    const missing = await stage.run('kv_set', { key: 'v', value: 1, if_version: 3 });
    expect(detailsOf(missing)).toEqual({ version: 0 });
    const { version } = await stage.get('kv_set', { key: 'v', value: 'four' });
    const { updated_at } = await stage.get('kv_get', { key: 'v' });
    const refused = await stage.run('kv_set', { key: 'v', value: 1, if_version: 0 });
    expect(detailsOf(refused)).toEqual({ version, size_bytes: 6, updated_at });
    const hint = `Version ${String(version)} is there now: check whether your change still applies.`;
    expect(refused.body).toMatchObject({ error: { hint } });
  });
});

describe('what a refusal about people tells', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await Stage.open();
  });
  afterAll(() => stage.close());

  const NOBODY = 'chn_00000000000000000000000000';

  it('which approver is none', async () => {
    const asked = { action: 'deploy', summary: 'Deploy', approvers: [NOBODY] };
    expect(detailsOf(await stage.run('ask_approval', asked))).toEqual({ approver: NOBODY });
    const rules = [{ effect: 'deny' }, { effect: 'require_approval', approvers: [NOBODY] }];
    expect(detailsOf(await stage.run('policy_set', { policy: { rules } }))).toEqual({
      approver: NOBODY,
      path: 'rules[1].approvers',
    });
  });

  it('where a policy is wrong', async () => {
    const rules = [{ effect: 'allow' }, { effect: 'deny', amount_lte: 'ten' }];
    for (const name of ['policy_set', 'policy_test', 'policy_diff']) {
      const refused = await stage.run(name, { policy: { rules } });
      expect(detailsOf(refused)).toMatchObject({ path: 'rules[1].amount_lte' });
    }
  });

  it('which rule denies', async () => {
    await stage.get('file_put', { path: 'a', content_base64: '' });
    const rules = [{ id: 'private', effect: 'deny', tool: 'file_url' }];
    const refused = await stage.whilePolicy(rules, () => stage.run('file_url', { path: 'a' }));
    expect(detailsOf(refused)).toEqual({ rule: 'private' });
  });

  it('when another link may be sent', async () => {
    const ana = { kind: 'email', address: 'ana@example.com' };
    await stage.get('channel_add', ana);
    stage.clock.advance(20_000);
    const refused = await stage.run('channel_add', ana);
    expect(detailsOf(refused)).toEqual({ retry_after: 40 });
    expect(refused.headers.get('retry-after')).toBe('40');
    stage.clock.advance(40_000);
    await stage.get('channel_add', ana);
  });
});

describe('what any call may be refused with', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await Stage.open();
  });
  afterAll(() => stage.close());

  it('KEY_REVOKED', async () => {
    const { id, apiKey } = await stage.newKey('inbox:read');
    await stage.get('key_revoke', { key_id: id });
    const answer = await stage.run('inbox_list', {}, { key: apiKey });
    expectRefusal(answer, 'KEY_REVOKED', 'inbox_list');
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  it('UNAUTHENTICATED, also by a key that expired', async () => {
    const made = await stage.get('key_create', {
      name: 'short',
      scopes: ['disk'],
      expires_at: new Date(stage.clock.now() + 1000).toISOString(),
    });
    const key = String(made['api_key']);
    expect((await stage.run('whoami', {}, { key })).status).toBe(200);
    stage.clock.advance(1000);
    expectRefusal(await stage.run('whoami', {}, { key }), 'UNAUTHENTICATED', 'whoami');
  });

  /** Sends one claim several times at once, until some of them meet. */
  async function meeting(): Promise<{ repeat: () => Promise<Answer>; answers: Answer[] }> {
    for (let round = 0; round < 100; round += 1) {
      const event_id = await stage.event();
      const headers = { 'idempotency-key': `round-${round}` };
      const repeat = (): Promise<Answer> => stage.run('inbox_claim', { event_id }, { headers });
      const answers = await Promise.all(Array.from({ length: 8 }, repeat));
      if (answers.some(({ status }) => status !== 200)) return { repeat, answers };
    }
    throw new Error('Calls at the same time never met.');
  }

  it('IDEMPOTENCY_IN_PROGRESS, while the first call has the one effect', async () => {
    const { repeat, answers } = await meeting();
    const refused = answers.filter(({ status }) => status !== 200);
    for (const one of refused) expectRefusal(one, 'IDEMPOTENCY_IN_PROGRESS', 'inbox_claim');
    const taken = [...answers, await repeat()].filter(({ status }) => status === 200);
    expect(new Set(taken.map(({ body }) => body['lease_id'])).size).toBe(1);
    expect(taken.length).toBeGreaterThan(1);
  });

  it('VALIDATION_FAILED, by an Idempotency-Key that was used for something else', async () => {
    const headers = { 'idempotency-key': 'once' };
    await stage.get('session_hello', { agent: 'a', platform: 'codex' }, { headers });
    const other = { agent: 'b', platform: 'codex' };
    const answer = await stage.run('session_hello', other, { headers });
    expectRefusal(answer, 'VALIDATION_FAILED', 'session_hello');
    expect(answer.body).toMatchObject({
      error: { details: { fields: [{ path: 'Idempotency-Key' }] } },
    });
  });
});

describe('a rate', () => {
  let gateway: TestGateway;

  beforeAll(async () => {
    gateway = await TestGateway.start({ ratePerMinute: 600 });
  });
  afterAll(() => gateway.stop());

  it('is RATE_LIMITED beyond a burst, says when to come back, and is for one key', async () => {
    const world = new World(gateway);
    const other = await world.newKey('disk');
    const refused = await world.untilRefused('whoami', {});
    expectRefusal(refused, 'RATE_LIMITED', 'whoami');
    const { details } = refused.body['error'] as { details: { retry_after: number } };
    expect(details.retry_after).toBeGreaterThan(0);
    expect(refused.headers.get('retry-after')).toBe(String(details.retry_after));
    expect((await world.run('whoami', {}, { key: other.apiKey })).status).toBe(200);
  });
});

describe('a closed store', () => {
  it('is UNAVAILABLE, with the seconds to wait', async () => {
    const gateway = await TestGateway.start();
    const world = new World(gateway);
    const project = await gateway.gateway.projects.find(gateway.projectId);
    await project?.store.close();
    const answer = await world.run('session_hello', { agent: 'a', platform: 'codex' });
    await gateway.stop();
    expectRefusal(answer, 'UNAVAILABLE', 'session_hello');
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
  });
});
