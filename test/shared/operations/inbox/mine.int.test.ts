import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ParkStage } from './park-stage.ts';

interface Listed {
  readonly items: { type: string; payload: { request_id?: string } }[];
  readonly event: { payload: { request_id?: string } } | null;
}

let stage: ParkStage;
let otherKey: string;
beforeEach(async () => {
  stage = await ParkStage.start();
  otherKey = await stage.test.key('inbox:read', 'inbox:write', 'approvals');
});
afterEach(() => stage.stop());

/** Asks with two keys and decides both; `theirs` first. */
async function bothDecided(): Promise<{ mine: string; theirs: string }> {
  const asked = await stage.people.ask({ action: 'theirs' }, { key: otherKey });
  const theirs = asked.body.request_id;
  const mine = await stage.people.asked({ action: 'mine' });
  for (const id of [theirs, mine]) await stage.people.decide(id, { verb: 'approve' });
  return { mine, theirs };
}

async function get(path: string, key?: string): Promise<Listed> {
  return (await stage.test.call<Listed>('GET', path, { ...(key !== undefined && { key }) })).body;
}

const requests = ({ items }: Pick<Listed, 'items'>) =>
  items.filter(({ type }) => type === 'request.resolved').map((one) => one.payload.request_id);

describe('mine', () => {
  it("leaves out the decisions of other keys' requests in a list", async () => {
    const { mine, theirs } = await bothDecided();
    expect(requests(await get('/v1/inbox'))).toEqual([theirs, mine]);
    expect(requests(await get('/v1/inbox?mine=true'))).toEqual([mine]);
    expect(requests(await get('/v1/inbox?mine=true', otherKey))).toEqual([theirs]);
  });

  it('leaves them out of a wait and of the next claim', async () => {
    const { mine } = await bothDecided();
    const query = 'type=request.resolved&mine=true&timeout_seconds=1';
    expect((await get(`/v1/inbox/wait?${query}`)).event?.payload.request_id).toBe(mine);
    const body = { type: 'request.resolved', mine: true, max: 10, timeout_seconds: 1 };
    const taken = await stage.test.call<Listed>('POST', '/v1/inbox/next', { body });
    expect(requests(taken.body)).toEqual([mine]);
  });

  it('keeps every event that tells of no request', async () => {
    const id = await stage.arrived();
    const { body } = await stage.test.call<{ items: { id: string }[] }>(
      'GET',
      '/v1/inbox?mine=true',
      { key: otherKey },
    );
    expect(body.items.map((one) => one.id)).toEqual([id]);
  });
});
