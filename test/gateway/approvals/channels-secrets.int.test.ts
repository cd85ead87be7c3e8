import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { operations } from '../../../shared/operations/index.ts';
import type { TestGateway } from '../../helpers/gateway.ts';
import { tokensOf } from '../../helpers/outbox.ts';
import { eachWithPeople, type TestPeople } from './people.ts';

const LOCAL = 'ana.lovelace.1815';
const ADDRESS = `${LOCAL}@example.com`;
const OWNER = 'grace.hopper.1906';

let test: TestGateway;
let people: TestPeople;
eachWithPeople(async (made) => {
  ({ test, people } = made);
  await test.gateway.setOwner(test.projectId, `${OWNER}@example.com`);
});

/** Every byte of the project's database, as a replica of it has them. */
function bytes(): Buffer {
  const path = join(test.folder, 'projects', test.projectId, 'project.db');
  const files = [path, `${path}-wal`].filter((file) => existsSync(file));
  return Buffer.concat(files.map((file) => readFileSync(file)));
}

/** Everything that people and their requests go through. */
async function scenario(): Promise<string> {
  const ana = await people.activeChannel(ADDRESS, 'ana');
  await people.addChannel(ADDRESS);
  await people.setPolicy({ effect: 'auto_approve_notify', amount_lte: 5, approvers: [ana] });
  await people.ask({ amount: 1 });
  await people.ask({}, { once: 'one' });
  await people.decide(await people.asked({ approvers: [ana] }), { verb: 'approve' }, ana);
  await people.decide(await people.asked(), { verb: 'deny' });
  await people.link(await people.asked());
  return ana;
}

describe('an address', () => {
  it('and the token of a link stand nowhere in the file, while there and after', async () => {
    const ana = await scenario();
    const secrets = [...tokensOf(test.folder, 'a'), ...tokensOf(test.folder, 'c')];
    expect(secrets.length).toBeGreaterThan(5);
    const absent = (): string[] => {
      const all = bytes();
      return [LOCAL, OWNER, ...secrets].filter((text) => all.includes(text));
    };
    // What is looked for would be found: the masked address is there.
    expect(bytes().includes('a***@example.com')).toBe(true);
    expect(absent()).toEqual([]);
    await people.removeChannel(ana);
    await people.project.writes.rotate();
    expect(absent()).toEqual([]);
  });

  it('stands in no answer that a key can get', async () => {
    await scenario();
    const { body: list } = await test.call<{ items: { request_id: string }[] }>(
      'GET',
      '/v1/requests?limit=100',
    );
    const answers = [
      await test.call('GET', '/v1/channels'),
      await test.call('GET', '/v1/requests?limit=100'),
      await test.call('GET', '/v1/policy'),
      await test.call('GET', '/v1/inbox?limit=100'),
      await test.call('GET', '/v1/ledger?limit=500'),
      await people.addChannel(ADDRESS),
      await people.addChannel(`${OWNER}@example.com`),
      await test.call('POST', '/v1/channels', { body: { kind: 'telegram', address: ADDRESS } }),
      await test.call('POST', '/v1/channels', { body: { kind: 'email', address: `<${ADDRESS}>` } }),
    ];
    for (const { request_id } of list.items) {
      answers.push(await test.call('GET', `/v1/requests/${request_id}`));
    }
    const secrets = [...tokensOf(test.folder, 'a'), ...tokensOf(test.folder, 'c'), LOCAL, OWNER];
    for (const { body } of answers) {
      const text = JSON.stringify(body);
      for (const secret of secrets) expect(text).not.toContain(secret);
    }
  });
});

describe('a key', () => {
  it('has no operation that decides, or confirms an address', async () => {
    // The whole list: whoever adds one to it has to think of this.
    const about = operations
      .filter(({ scope }) => scope === 'approvals')
      .map(({ name }) => name)
      .toSorted();
    expect(about).toEqual([
      'ask_approval',
      'ask_human',
      'channel_add',
      'channel_list',
      'channel_remove',
      'policy_diff',
      'policy_get',
      'policy_set',
      'policy_suggest',
      'policy_test',
      'request_list',
      'request_received',
      'request_status',
      'request_use',
      'request_withdraw',
    ]);
    const id = await people.asked();
    for (const [method, path] of [
      ['POST', `/v1/requests/${id}`],
      ['PUT', `/v1/requests/${id}`],
      ['POST', `/v1/requests/${id}/approve`],
      ['POST', `/a/${id}`],
    ] as const) {
      const response = await fetch(test.url + path, {
        method,
        headers: { authorization: `Bearer ${test.apiKey}`, 'content-type': 'application/json' },
        body: '{"status":"approved","verb":"approve"}',
      });
      await response.text();
      expect([404, 405]).toContain(response.status);
    }
    expect((await people.status(id)).status).toBe('pending');
  });

  it('gets nothing decided by the ids it can see', async () => {
    const id = await people.asked();
    const { notified } = await people.status(id);
    const notices = await people.project.store.read((store) => store.notices.ofRequest(id));
    const known = [id, await people.owner(), notices[0]?.id ?? '', notices[0]?.token_hash ?? ''];
    expect(notified).toHaveLength(1);
    for (const token of known) {
      expect(await test.gateway.approvals.open(token)).toBeNull();
      expect(await test.gateway.approvals.decide(token, { verb: 'approve' })).toBeNull();
      expect(await test.gateway.approvals.verifyEmail(token)).toBeNull();
    }
  });
});
