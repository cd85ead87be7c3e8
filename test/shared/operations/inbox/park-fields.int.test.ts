import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callTool } from '../../../helpers/tool-call.ts';
import { ParkStage } from './park-stage.ts';

let stage: ParkStage;
beforeEach(async () => {
  stage = await ParkStage.start();
});
afterEach(() => stage.stop());

/** The state that the next claim gives back. */
async function nextState(id: string): Promise<unknown> {
  return (await stage.claim(id)).resumed?.state;
}

describe('a state left with `until: ["now"]`', () => {
  it('comes back with the next claim', async () => {
    const id = await stage.claimed();
    const { body } = await stage.nack({ event_id: id, until: ['now'], state: { step: 3 } });
    expect(body).toMatchObject({ status: 'pending', attempts: 0 });
    expect((await stage.claim(id)).resumed).toEqual({
      parks: 0,
      because: 'now',
      waited_for: [],
      answers: [],
      state: { step: 3 },
    });
  });

  it('comes back as it was given over MCP, numbers and null included', async () => {
    const id = await stage.claimed();
    for (const state of [{ n: 1.5 }, 'text', 0, false, null]) {
      const given = { event_id: id, until: ['now'], state };
      expect((await callTool(stage.test, 'inbox_nack', given)).refusal).toBeNull();
      expect(await nextState(id)).toEqual(state);
    }
  });

  it('replaces the state of an older park, whose answers stay', async () => {
    const id = await stage.claimed();
    const { request_id } = await stage.askAndPark(id, { state: 'old' });
    await stage.people.decide(request_id, { verb: 'approve' });
    await stage.claim(id);
    await stage.nack({ event_id: id, until: ['now'], state: 'new' });
    expect((await stage.claim(id)).resumed).toMatchObject({
      parks: 1,
      because: request_id,
      answers: [{ request_id, status: 'approved' }],
      state: 'new',
    });
  });

  it('counts as no park', async () => {
    const id = await stage.claimed();
    await stage.nack({ event_id: id, until: ['now'], state: 1 });
    await stage.claim(id);
    expect((await stage.nack({ event_id: id, until: ['+1m'] })).body).toMatchObject({ parks: 1 });
  });
});

describe('the state of an earlier run', () => {
  it('stays until another is given, also null', async () => {
    const id = await stage.claimed();
    await stage.nack({ event_id: id, until: ['now'], state: 'kept' });
    expect(await nextState(id)).toBe('kept');
    await stage.nack({ event_id: id, until: ['now'] });
    expect(await nextState(id)).toBe('kept');
    await stage.nack({ event_id: id, until: ['+1h'] });
    stage.clock.advance(3_600_000);
    expect(await nextState(id)).toBe('kept');
    await stage.nack({ event_id: id, reason: 'busy' });
    stage.clock.advance(30_000);
    expect(await nextState(id)).toBe('kept');
    await stage.nack({ event_id: id, until: ['now'], state: null });
    expect(await nextState(id)).toBeNull();
  });
});

describe('what a nack cannot honour', () => {
  it.each([
    [{ reason: 'busy', state: { step: 2 } }, ['state']],
    [{ reason: 'busy', state: null }, ['state']],
    [{ reason: 'busy', any: true }, ['any']],
    [{ reason: 'busy', any: true, state: 1, retry: false }, ['any', 'state']],
    [{ until: ['+1h'], retry: false }, ['retry']],
    [{ until: ['now'], reason: 'no', retry: false, state: 1 }, ['retry']],
  ])('is refused by name, and the lease stays: %j', async (more, paths) => {
    const id = await stage.claimed();
    const { status, body } = await stage.nack({ event_id: id, ...more });
    expect(status).toBe(400);
    expect(body.error?.details?.fields?.map(({ path }) => path)).toEqual(paths);
    expect((await stage.event(id)).status).toBe('claimed');
    const told = await callTool(stage.test, 'inbox_nack', { event_id: id, ...more });
    expect(told.refusal).toMatch(new RegExp(`^VALIDATION_FAILED: .*${String(paths[0])}`));
  });

  it('is refused when a question leaves a state without a park', async () => {
    const id = await stage.claimed();
    for (const more of [{ event_id: id }, {}, { event_id: id, park: false }]) {
      const { body } = await stage.people.ask({ ...more, state: { step: 2 } });
      expect(body.error).toMatchObject({
        code: 'VALIDATION_FAILED',
        details: { fields: [{ path: 'state', message: 'Only with park.' }] },
      });
    }
  });

  it('is no `retry: true`, `any: false` or `any` for one condition', async () => {
    const id = await stage.claimed();
    const spelled = { retry: true, any: false };
    expect((await stage.nack({ event_id: id, until: ['now'], ...spelled })).status).toBe(200);
    await stage.claim(id);
    expect((await stage.nack({ event_id: id, until: ['+1h'], any: true })).status).toBe(200);
  });
});

describe('the reason of a park', () => {
  it.each([[['now']], [['+1h']]])('is kept beside until %j', async (until) => {
    const id = await stage.claimed();
    await stage.nack({ event_id: id, until, reason: 'The worker was stopped.' });
    expect((await stage.event(id)).reason).toBe('The worker was stopped.');
  });

  it('gives way to the reason of an event that was parked too often', async () => {
    const id = await stage.claimed();
    const park = { event_id: id, until: ['+1m'], reason: 'Not yet.' };
    for (let parks = 1; parks <= 25; parks += 1) {
      await stage.nack(park);
      stage.clock.advance(60_000);
      await stage.claim(id);
    }
    expect((await stage.nack(park)).body.status).toBe('dead');
    expect((await stage.event(id)).reason).toBe('The event was parked 25 times.');
  });
});
