import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestGateway } from '../../helpers/gateway.ts';
import { callTool } from '../../helpers/tool-call.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start();
});
afterAll(() => gateway.stop());

const OBJECT = '{"order": 1}';
const about = (name: string) => ({ warnings: [expect.stringContaining(`\`${name}\` is JSON`)] });

describe('JSON that is sent as its text is kept as text, and the answer says so:', () => {
  it.each([OBJECT, '[1, 2]', '\n {"a":[]}'])('a value %j', async (value) => {
    const set = await callTool(gateway, 'kv_set', { key: 'seen', value });
    expect(set.value).toMatchObject(about('value'));
    expect((await callTool(gateway, 'kv_get', { key: 'seen' })).value['value']).toBe(value);
    const put = await gateway.call('PUT', '/v1/kv/seen', { body: value });
    expect(put.body).toMatchObject(about('value'));
  });

  it('what an approval binds, and states', async () => {
    const call = { action: 'refund', summary: 'Refund', bind: OBJECT, wait_seconds: 0 };
    expect((await callTool(gateway, 'ask_approval', call)).value).toMatchObject(about('bind'));
    const saved = await callTool(gateway, 'state_save', { task_id: 't', state: OBJECT });
    expect(saved.value).toMatchObject(about('state'));
  });

  it('nothing about what is meant as text, or is no text', async () => {
    for (const value of ['', 'hello', '5', 'null', '[draft', '{name}', '"{}"', { a: '{}' }, [1]]) {
      const { value: answer } = await callTool(gateway, 'kv_set', { key: 'plain', value });
      expect([value, 'warnings' in answer]).toEqual([value, false]);
    }
  });
});
