import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../shared/lib/errors.ts';
import { newApiKey, newProjectId } from '../../../shared/lib/ids.ts';
import { withMcpClient } from '../../../shared/kernel/caller.ts';
import { operationNamed } from '../../surface/scenario.ts';
import { ExecutorStage, silence } from './executor-stage.ts';

let stage: ExecutorStage;

beforeAll(async () => {
  stage = await ExecutorStage.open();
});
beforeEach(() => stage.reset());
afterAll(() => stage.gateway.stop());

describe('a key', () => {
  it('is looked up in the copy', async () => {
    const caller = await stage.executor.authenticate(stage.credentials());
    expect(caller).toMatchObject({
      projectId: stage.gateway.projectId,
      requestId: 'r1',
      agent: { label: 'codex', source: 'user_agent' },
    });
    expect(caller.scopes).toContain('admin');
    expect(stage.askedNames).toEqual([]);
  });

  it.each([
    ['none', undefined],
    ['junk', 'svc_live_nonsense'],
    ['one of another project', newApiKey(newProjectId())],
  ])('%s is refused without a question', async (_, apiKey) => {
    const authorization = apiKey && `Bearer ${apiKey}`;
    await expect(
      stage.executor.authenticate({ ...stage.credentials(), authorization }),
    ).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
      status: 401,
    });
    expect(stage.askedNames).toEqual([]);
  });

  it('that was revoked is refused by the copy', async () => {
    const key = await stage.gateway.key('disk');
    const caller = await stage.executor.authenticate(stage.credentials(key));
    await stage.gateway.call('DELETE', `/v1/keys/${caller.keyId}`);
    // As a copy does that has something new.
    stage.replica.keyCache.clear();
    await expect(stage.executor.authenticate(stage.credentials(key))).rejects.toMatchObject({
      code: 'KEY_REVOKED',
    });
  });

  it('that the copy does not have is asked for at the gateway, and remembered for a moment', async () => {
    const unknown = newApiKey(stage.gateway.projectId);
    stage.acceptKeys(7);
    const crowd = [1, 2, 3].map(() => stage.executor.authenticate(stage.credentials(unknown)));
    const [caller] = await Promise.all(crowd);
    expect(caller).toMatchObject({ keyId: 'key_other', scopes: ['disk'] });
    await Promise.all([1, 2, 3].map(() => stage.executor.authenticate(stage.credentials(unknown))));
    expect(stage.askedNames).toEqual(['whoami']);
    // The copy would not know it when it looks for it in the middle of a wait.
    expect(await stage.run('kv_get', { key: 'color' }, caller)).toEqual({ value: 7 });
    await stage.run('session_hello', operationNamed('session_hello').example, caller);
    await stage.executor.authenticate(stage.credentials(unknown));
    expect(stage.askedNames).toEqual(['whoami', 'kv_get', 'session_hello', 'whoami']);
  });

  it('that the gateway refuses is not remembered', async () => {
    stage.answerOf = async () => {
      throw new ServiceError('UNAUTHENTICATED');
    };
    const unknown = stage.credentials(newApiKey(stage.gateway.projectId));
    await expect(stage.executor.authenticate(unknown)).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    });
    await expect(stage.executor.authenticate(unknown)).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    });
    expect(stage.askedNames).toEqual(['whoami', 'whoami']);
  });

  it('that nobody can say anything of is refused for the moment, and the gateway named', async () => {
    stage.replica.fresh = { usable: 'stale', ageMs: 1 };
    stage.answerOf = async () => {
      throw silence(false);
    };
    const unknown = stage.credentials(newApiKey(stage.gateway.projectId));
    await expect(stage.executor.authenticate(unknown)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      hint: expect.stringContaining('https://gateway.example'),
    });
  });

  it('is looked up after what changed it has arrived', async () => {
    stage.answerOf = async () => ({ value: {}, position: 9 });
    await stage.run('kv_set', { key: 'a', value: 1 });
    await stage.executor.authenticate(stage.credentials());
    expect(stage.replica.settledAsked).toBe(0);
    await stage.run('key_revoke', { key_id: 'key_01j9z3k4m5n6p7q8r9s0t1v2w3' });
    await stage.executor.authenticate(stage.credentials());
    expect(stage.replica.settledAsked).toBe(1);
    await stage.executor.authenticate(stage.credentials());
    expect(stage.replica.settledAsked).toBe(1);
  });

  it('goes along when a binding adds what it knows of the client', async () => {
    const caller = withMcpClient(
      await stage.executor.authenticate({ ...stage.credentials(), userAgent: undefined }),
      'my-client',
      'idem-1',
    );
    await stage.run('kv_set', { key: 'color', value: 'red' }, caller);
    expect(stage.asked[0]).toMatchObject({
      caller: { idempotencyKey: 'idem-1', agent: { label: 'my-client' } },
      credentials: { authorization: `Bearer ${stage.gateway.apiKey}` },
    });
  });

  it('checked by somebody else is a fault', async () => {
    const { requestId, ...rest } = await stage.executor.authenticate(stage.credentials());
    const { projectId, keyId, scopes, diskPrefixes, agent } = rest;
    const who = { projectId, keyId, scopes, diskPrefixes, agent };
    const foreign = { ...who, requestId, idempotencyKey: null };
    await expect(stage.run('kv_get', { key: 'a' }, foreign)).rejects.toThrow('not checked here');
  });
});
