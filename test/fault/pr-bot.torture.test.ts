import { afterAll, beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/gateway.ts';
import { BotStage, type Push } from './pr-bot.ts';

/** A killed agent's lease ends after 30 s. */
const PATIENCE = { timeout: 150_000, interval: 500 };
const LANES = 6;

const folder = temporaryFolder();
let stage: BotStage;
beforeAll(async () => {
  stage = new BotStage(folder.path);
  await stage.start();
});
afterAll(async () => {
  await stage.stop();
  folder.remove();
});

function pushOf(number: number, digit = 'a'): Push {
  return { number, sha: digit.repeat(32) + String(number).padStart(8, '0') };
}

const shown = ({ number, sha }: Push): string => JSON.stringify({ number, sha });

async function isDone(id: string): Promise<void> {
  await expect.poll(async () => (await stage.event(id)).status, PATIENCE).toBe('done');
}

async function decided(button: 'Approve' | 'Deny', about: string): Promise<void> {
  await expect.poll(() => stage.decide(button, about), PATIENCE).toBeGreaterThan(0);
}

it('merges what a person approved, and only that', async () => {
  await stage.lane('answers');
  const [yes, no] = [pushOf(101), pushOf(102)];
  const approved = await stage.push('answers', yes);
  await decided('Approve', yes.sha);
  await isDone(approved);
  const denied = await stage.push('answers', no);
  await decided('Deny', no.sha);
  await isDone(denied);
  const about = (push: Push) => stage.acts().filter((line) => line.includes(push.sha));
  expect(about(yes)).toEqual([`Reviewed ${shown(yes)}`, `merged ${shown(yes)}`]);
  expect(about(no)).toEqual([`Reviewed ${shown(no)}`]);
  expect(await stage.event(denied)).toMatchObject({ result: { text: `not merged ${shown(no)}` } });
});

it('does not merge when nobody answers', async () => {
  await stage.lane('silence', (bot) => bot.replace('--park', '--park --expires-in 1m'));
  const push = pushOf(111);
  const id = await stage.push('silence', push);
  await isDone(id);
  expect(stage.acts().filter((line) => line.includes(push.sha))).toEqual([
    `Reviewed ${shown(push)}`,
  ]);
  const asked = (await stage.requests()).filter(({ event_id }) => event_id === id);
  expect(asked).toMatchObject([{ status: 'expired' }]);
});

it('asks about each push to a pull request, and merges the commit that was approved', async () => {
  await stage.lane('pushes');
  const first = pushOf(121);
  const second: Push = { ...pushOf(121, 'b'), action: 'synchronize' };
  const opened = await stage.push('pushes', first);
  await expect.poll(async () => (await stage.event(opened)).status, PATIENCE).toBe('waiting');
  const pushed = await stage.push('pushes', second);
  await decided('Approve', second.sha);
  await isDone(pushed);
  expect(stage.acts().filter((line) => line.startsWith('merged {"number":121'))).toEqual([
    `merged ${shown(second)}`,
  ]);
  const requests = await stage.requests();
  const bound = (id: string) => requests.filter((one) => one.event_id === id);
  expect(bound(opened)).toMatchObject([{ status: 'pending', bind: { sha: first.sha } }]);
  expect(bound(pushed)).toMatchObject([{ status: 'approved', bind: { sha: second.sha } }]);
  // An approval of one commit doesn't count for another.
  await expect(
    stage.once('request', 'use', bound(pushed)[0]?.request_id ?? '', '--bind', shown(first)),
  ).rejects.toThrow('APPROVAL_NOT_APPLICABLE');
  await decided('Deny', first.sha);
  await isDone(opened);
});

const STEPS = ['0-review', '0-ask', '1-review', '1-ask', '1-merge', '1-ack'];
const POINTS = STEPS.flatMap((step) => [`${step}-before`, `${step}-during`, `${step}-after`])
  // Afterwards the event is done.
  .filter((point) => point !== '1-ack-after');

/** An agent that dies after a step but before recording it must repeat the step. */
function again(one: string, step: string): boolean {
  return one === `agent ${step}-during`;
}

it('asks once and merges once, whoever is killed at whatever point', async () => {
  const cases = (['agent', 'daemon'] as const).flatMap((victim, half) =>
    POINTS.map((point, index) => {
      const push = pushOf(200 + half * POINTS.length + index);
      return { victim, point, push, lane: `lane${(half * POINTS.length + index) % LANES}` };
    }),
  );
  for (let lane = 0; lane < LANES; lane += 1) await stage.lane(`lane${lane}`);
  for (const { victim, point, push } of cases) stage.killAt(push.number, point, victim);
  const ids: string[] = [];
  for (const { lane, push } of cases) ids.push(await stage.push(lane, push));
  const open = async (): Promise<string[]> => {
    await stage.decide('Approve');
    const all = await Promise.all(ids.map((id) => stage.event(id)));
    return all.flatMap(({ status }, index) =>
      status === 'done' ? [] : [`${cases[index]?.victim} ${cases[index]?.point}: ${status}`],
    );
  };
  await expect.poll(open, { timeout: 400_000, interval: 500 }).toEqual([]);
  const acts = stage.acts();
  const requests = await stage.requests();
  const counts = cases.map(({ victim, point, push }, index) => ({
    case: `${victim} ${point}`,
    killed: !stage.pointsLeft(push.number, point),
    asked: requests.filter(({ event_id }) => event_id === ids[index]).length,
    reviewed: acts.filter((line) => line === `Reviewed ${shown(push)}`).length,
    merged: acts.filter((line) => line === `merged ${shown(push)}`).length,
  }));
  expect(counts.filter(({ killed }) => !killed)).toEqual([]);
  expect(counts.filter(({ asked }) => asked !== 1)).toEqual([]);
  expect(counts.filter((one) => one.reviewed !== 1 && !again(one.case, '0-review'))).toEqual([]);
  expect(counts.filter((one) => one.merged !== 1 && !again(one.case, '1-merge'))).toEqual([]);
  expect(counts.filter(({ reviewed, merged }) => reviewed > 2 || merged > 2)).toEqual([]);
  expect(await stage.json('ledger', 'verify')).toMatchObject({ ok: true });
});
