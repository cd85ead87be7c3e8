import { afterAll, beforeAll, expect, it } from 'vitest';
import { run } from '../../../../cli/run.ts';
import { TextSink } from '../../../cli/fake-output.ts';
import { temporaryFolder, TestGateway } from '../../../helpers/gateway.ts';

let gateway: TestGateway;
const ids: string[] = [];
const home = temporaryFolder();
const JSON_TYPE = { 'content-type': 'application/json' };

beforeAll(async () => {
  gateway = await TestGateway.start();
  const hook = await gateway.addSource({ name: 'shop' });
  for (let n = 0; n < 5; n += 1) {
    const { body } = await gateway.deliver(hook, JSON.stringify({ order: `o-${n}` }), JSON_TYPE);
    ids.push(String(body['event_id']));
  }
  await gateway.call('POST', '/v1/inbox/claim', { body: { event_id: ids[1] } });
  await gateway.call('POST', '/v1/inbox/ack', { body: { event_id: ids[1] } });
  await gateway.call('POST', '/v1/inbox/claim', { body: { event_id: ids[3] } });
});
afterAll(async () => {
  await gateway.stop();
  home.remove();
});

interface Page {
  readonly items: { readonly id: string; readonly status: string }[];
  readonly next_cursor: string | null;
}

/** All pages of a list, two events at a time. */
async function listed(query: string): Promise<Page['items']> {
  const items: Page['items'] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const more: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const { body } = await gateway.call<Page>('GET', `/v1/inbox?limit=2&${query}${more}`);
    items.push(...body.items);
    cursor = body.next_cursor;
  }
  return items;
}

const idsOf = (items: Page['items']) => items.map(({ id }) => id);

it('lists events in all states, oldest or newest first', async () => {
  const all = await listed('status=all');
  expect(idsOf(all)).toEqual(ids);
  expect(all.map(({ status }) => status)).toEqual([
    'pending',
    'done',
    'pending',
    'claimed',
    'pending',
  ]);
  expect(idsOf(await listed('status=all&newest=true'))).toEqual(ids.toReversed());
  expect(idsOf(await listed('newest=true'))).toEqual([ids[4], ids[2], ids[0]]);
  expect(idsOf(await listed('status=all&source=shop&type=webhook.*'))).toEqual(ids);
  expect(await listed('status=all&source=other')).toEqual([]);
});

it('shows what each is about on a terminal', async () => {
  const [stdout, stderr] = [new TextSink(), new TextSink()];
  Object.assign(stdout, { isTTY: true, columns: 160 });
  const env = {
    NO_COLOR: '1',
    SVC_HOME: home.path,
    SVC_GATEWAY: gateway.url,
    SVC_API_KEY: gateway.apiKey,
  };
  const { signal } = new AbortController();
  const typed = ['inbox', 'list', '--status', 'all', '--newest'];
  expect(await run(typed, { env, stdout, stderr, signal })).toBe(0);
  const lines = stdout.text.split('\n');
  expect(lines[0]).toMatch(/ID +RECEIVED +STATUS +TYPE +ABOUT/);
  expect(lines[1]).toContain('o-4');
  expect(stdout.text).toMatch(/done +webhook\.received +o-1/);
});

async function requestIds(query: string): Promise<string[]> {
  const { body } = await gateway.call<{ items: { request_id: string }[] }>(
    'GET',
    `/v1/requests${query}`,
  );
  return body.items.map((one) => one.request_id);
}

it('takes the same word for requests, which are all and newest first anyway', async () => {
  for (const n of [1, 2]) {
    const body = { question: `Which ${n}?`, wait_seconds: 0 };
    await gateway.call('POST', '/v1/requests', { body });
  }
  const usual = await requestIds('');
  expect(usual).toHaveLength(2);
  expect(await requestIds('?status=all')).toEqual(usual);
});
