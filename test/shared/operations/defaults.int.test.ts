import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../helpers/gateway.ts';
import { rawRequest } from '../../helpers/raw-http.ts';
import { callTool } from '../../helpers/tool-call.ts';

let clock: FakeClock;
let gateway: TestGateway;
beforeEach(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock });
});
afterEach(() => gateway.stop());

async function stored(path: string): Promise<unknown> {
  return (await gateway.call('GET', path)).body;
}

/** A PUT with this body and no more headers than a client needs. */
async function put(path: string, body?: string, type?: string) {
  const response = await fetch(gateway.url + path, {
    method: 'PUT',
    headers: {
      authorization: `Bearer ${gateway.apiKey}`,
      ...(type !== undefined && { 'content-type': type }),
    },
    ...(body !== undefined && { body }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const refusedFor = (path: string) => ({
  status: 400,
  body: { error: { code: 'VALIDATION_FAILED', details: { fields: [{ path }] } } },
});

describe('kv_set without a value', () => {
  it('replaces nothing, and names the value', async () => {
    await callTool(gateway, 'kv_set', { key: 'config', value: { region: 'eu' }, ttl_seconds: 60 });
    const before = await stored('/v1/kv/config');
    for (const more of [{}, { ttl_seconds: 600 }, { if_version: 1 }]) {
      const { refusal } = await callTool(gateway, 'kv_set', { key: 'config', ...more });
      expect(refusal).toMatch(/^VALIDATION_FAILED: .*value: The key has a value/);
    }
    expect(await stored('/v1/kv/config')).toEqual(before);
  });

  it('replaces no null either', async () => {
    await callTool(gateway, 'kv_set', { key: 'empty', value: null });
    const { refusal } = await callTool(gateway, 'kv_set', { key: 'empty' });
    expect(refusal).toMatch(/^VALIDATION_FAILED/);
  });

  it('gives a new key null, also where an expired one was', async () => {
    const lock = { key: 'lock', ttl_seconds: 60, if_version: 0 };
    expect((await callTool(gateway, 'kv_set', lock)).refusal).toBeNull();
    expect(await stored('/v1/kv/lock')).toMatchObject({ value: null });
    clock.advance(60_000);
    expect((await callTool(gateway, 'kv_set', lock)).refusal).toBeNull();
  });

  it('is something else than null, which is a value', async () => {
    for (const value of ['old', null, 0, '', false]) {
      expect((await callTool(gateway, 'kv_set', { key: 'a', value })).refusal).toBeNull();
      expect(await stored('/v1/kv/a')).toMatchObject({ value });
    }
    expect(await put('/v1/kv/a', 'null', 'application/json')).toMatchObject({ status: 200 });
    expect(await stored('/v1/kv/a')).toMatchObject({ value: null });
  });
});

describe('a write whose content is missing', () => {
  it.each([
    ['/v1/kv/a', undefined, undefined, 'value'],
    ['/v1/kv/a', '', 'application/json', 'value'],
    ['/v1/kv/state/a', '', 'application/json', 'value'],
    ['/v1/state/a', undefined, undefined, 'state'],
    ['/v1/state/a', '{}', 'application/json', 'state'],
    ['/v1/state/a', '{"note":"x"}', 'application/json', 'state'],
    ['/v1/policy', undefined, undefined, 'policy'],
    ['/v1/policy', '{}', 'application/json', 'policy'],
    ['/v1/project', '{}', 'application/json', 'name'],
  ])('changes nothing and names the field: PUT %s %j', async (path, body, type, field) => {
    await callTool(gateway, 'kv_set', { key: 'a', value: 1 });
    await callTool(gateway, 'state_save', { task_id: 'a', state: { step: 1 }, note: 'first' });
    const before = [await stored('/v1/kv/a'), await stored('/v1/state/a')];
    expect(await put(path, body, type)).toMatchObject(refusedFor(field));
    expect([await stored('/v1/kv/a'), await stored('/v1/state/a')]).toEqual(before);
  });

  it('replaces no file where there is no body at all; an empty one is a file', async () => {
    const content_base64 = Buffer.from('kept').toString('base64');
    await callTool(gateway, 'file_put', { path: 'a.txt', content_base64 });
    const head = ['PUT {path} HTTP/1.1', `Authorization: Bearer ${gateway.apiKey}`];
    const { status, text } = await rawRequest(`${gateway.url}/v1/files/a.txt`, head);
    expect([status, text]).toEqual([400, expect.stringContaining('"path":"content_base64"')]);
    expect(text).toContain('There is no body.');
    const kept = await callTool(gateway, 'file_get', { path: 'a.txt' });
    expect(JSON.stringify(kept)).toContain('"size_bytes":4');
    const empty = [...head, 'Content-Length: 0'];
    expect((await rawRequest(`${gateway.url}/v1/files/a.txt`, empty)).status).toBe(200);
  });

  it.each([
    ['state_save', { task_id: 'a' }, 'state'],
    ['file_put', { path: 'a' }, 'content_base64'],
    ['policy_set', {}, 'policy'],
  ])('is refused over MCP: %s', async (tool, given, field) => {
    const { refusal } = await callTool(gateway, tool, given);
    expect(refusal).toMatch(new RegExp(`^VALIDATION_FAILED: .*${field}`));
  });

  it('is no policy without rules', async () => {
    const { refusal } = await callTool(gateway, 'policy_set', { policy: {}, wait_seconds: 0 });
    expect(refusal).toMatch(/^(POLICY_INVALID|VALIDATION_FAILED): .*rules/);
  });
});
