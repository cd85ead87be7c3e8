import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SOON, Scenario, type Asked } from './scenario.ts';

let scenario: Scenario;
let anna: Asked;
beforeEach(async () => {
  scenario = await Scenario.start();
  anna = await scenario.connect(7001, 'Anna');
});
afterEach(() => scenario.stop());

const last = () => {
  const message = anna.person.received.at(-1);
  if (!message) throw new Error('nothing was received');
  return message;
};

/** Waits for the bot's next message, which was caused by `cause`. */
async function answerTo(cause: () => void): Promise<string> {
  const before = anna.person.received.length;
  cause();
  await expect.poll(() => anna.person.received.length, SOON).toBe(before + 1);
  return last().shown.text;
}

const askQuestion = () =>
  scenario.ask(anna, { kind: 'question', action: null, risk: null, summary: 'Which region?' });

describe('a question', () => {
  it('is answered by a reply', async () => {
    const { message, requestId } = await askQuestion();
    const text = await answerTo(() => anna.person.says('Europe, <b>but not</b> France', message));
    expect(text).toBe('💬 Answered. The agent will see it.');
    expect(last().replyTo).not.toBeNull();
    const { status, decision } = scenario.approvals.request(requestId);
    expect([status, decision]).toEqual(['answered', 'Europe, <b>but not</b> France']);
    await expect.poll(() => message.shown.text, SOON).toMatch(/^💬 Answered by you/);
    expect(message.shown.text).toContain('Europe, <b>but not</b> France');
    expect(message.buttons).toEqual([]);
  });

  it('is answered by a reply to what the Answer button brings up', async () => {
    const { message, requestId } = await askQuestion();
    await answerTo(() => anna.person.taps(message, 'Answer'));
    const prompt = last();
    expect(prompt.isForceReply).toBe(true);
    expect(prompt.replyTo).toBe(message.message_id);
    anna.person.says('Asia', prompt);
    await expect.poll(() => scenario.approvals.request(requestId).decision, SOON).toBe('Asia');
    await expect.poll(() => message.buttons, SOON).toEqual([]);
  });

  it('is sent back by a reply after "Needs context"', async () => {
    const { message, requestId } = await askQuestion();
    await answerTo(() => anna.person.taps(message, 'Needs context'));
    anna.person.says('For which customer?', last());
    await expect.poll(() => scenario.status(requestId), SOON).toBe('needs_context');
    expect(scenario.approvals.request(requestId).comment).toBe('For which customer?');
  });

  it('has no buttons to approve or deny, and is not approved by a forged one', async () => {
    const { message, requestId, token } = await askQuestion();
    const labels = message.buttons.flat().map(({ text }) => text);
    expect(labels).toEqual(['✏️ Answer', '❓ Needs context', 'Open full text']);
    anna.person.sends(message, `a:${token}`);
    await expect.poll(() => anna.person.toasts.length, SOON).toBe(1);
    expect(anna.person.toasts[0]).toEqual({ text: 'A question is answered.', isAlert: true });
    expect(scenario.status(requestId)).toBe('pending');
  });

  it('that is over tells so to who replies', async () => {
    const { message, requestId } = await askQuestion();
    scenario.approvals.decideElsewhere(requestId, 'expired', 'nobody');
    const text = await answerTo(() => anna.person.says('Europe', message));
    expect(text).toMatch(/^Nothing changed\. Expired/);
  });

  it('takes words alone', async () => {
    const { message, requestId } = await askQuestion();
    const text = await answerTo(() => anna.person.says(null, message));
    expect(text).toContain('only pass on text');
    expect(scenario.status(requestId)).toBe('pending');
  });
});

describe('an approval', () => {
  it('is not decided by a reply, and the person is told how to decide', async () => {
    const { message, requestId } = await scenario.ask(anna);
    const text = await answerTo(() => anna.person.says('yes, go on', message));
    expect(text).toContain('Nothing was decided');
    expect(text).toContain('Needs context');
    expect(scenario.status(requestId)).toBe('pending');
    expect(message.buttons).not.toEqual([]);
  });

  it('is sent back with words by "Needs context" and a reply to the prompt', async () => {
    const { message, requestId } = await scenario.ask(anna);
    const text = await answerTo(() => anna.person.taps(message, 'Needs context'));
    expect(text).toContain('Reply to this message');
    expect(last().isForceReply).toBe(true);
    expect(scenario.status(requestId)).toBe('pending');
    anna.person.says('Which backups, exactly?', last());
    await expect.poll(() => scenario.status(requestId), SOON).toBe('needs_context');
    expect(scenario.approvals.request(requestId).comment).toBe('Which backups, exactly?');
    await expect
      .poll(() => message.shown.text, SOON)
      .toMatch(/^❓ Sent back by you: needs context/);
    expect(message.shown.text).toContain('Which backups, exactly?');
  });

  it('is sent back as well by a reply to the request itself after "Needs context"', async () => {
    const { message, requestId } = await scenario.ask(anna);
    await answerTo(() => anna.person.taps(message, 'Needs context'));
    anna.person.says('Why now?', message);
    await expect.poll(() => scenario.approvals.request(requestId).comment, SOON).toBe('Why now?');
  });

  it('may still be approved after "Needs context", and the prompt then changes nothing', async () => {
    const { message, requestId } = await scenario.ask(anna);
    await answerTo(() => anna.person.taps(message, 'Needs context'));
    const prompt = last();
    anna.person.taps(message, 'Approve');
    await expect.poll(() => scenario.status(requestId), SOON).toBe('approved');
    const text = await answerTo(() => anna.person.says('Why now?', prompt));
    expect(text).toMatch(/^Nothing changed\. Approved by Anna/);
    expect(scenario.status(requestId)).toBe('approved');
  });

  it('forgets after an hour that words were asked for', async () => {
    const { message, requestId } = await scenario.ask(anna);
    await answerTo(() => anna.person.taps(message, 'Needs context'));
    scenario.clock.advance(3_600_000);
    const text = await answerTo(() => anna.person.says('Why now?', message));
    expect(text).toContain('Nothing was decided');
    expect(scenario.status(requestId)).toBe('pending');
  });
});

describe('other messages', () => {
  it.each(['/start', '/help', 'hello', '/start with spaces in it'])(
    '%s gets help',
    async (words) => {
      expect(await answerTo(() => anna.person.says(words))).toContain('from software agents');
    },
  );

  it('a dead start link is said to be dead', async () => {
    const text = await answerTo(() => anna.person.says('/start nosuchtoken'));
    expect(text).toContain("doesn't work any more");
  });

  it('a start link works once', async () => {
    const { startToken, channelId } = scenario.approvals.addChannel('Second');
    await answerTo(() => anna.person.says(`/start ${startToken}`));
    const carl = scenario.telegram.person(7009, 'Carl');
    carl.says(`/start ${startToken}`);
    await expect.poll(() => carl.received.length, SOON).toBe(1);
    expect(carl.received[0]?.shown.text).toContain("doesn't work any more");
    expect(scenario.channel(channelId).chat?.userId).toBe(7001);
  });

  it('a stranger who writes a lot is answered once in ten seconds', async () => {
    const eve = scenario.telegram.person(6666, 'Eve');
    for (let turn = 0; turn < 30; turn += 1) eve.says('hello?');
    await answerTo(() => anna.person.says('hello'));
    expect(eve.received).toHaveLength(1);
    scenario.clock.advance(10_000);
    eve.says('hello?');
    await expect.poll(() => eve.received.length, SOON).toBe(2);
  });

  it('a group is not answered, and cannot be connected', async () => {
    const { startToken, channelId } = scenario.approvals.addChannel('Group');
    const inGroup = scenario.telegram.person(7001, 'Anna', -100500, 'supergroup');
    inGroup.says(`/start@svc_test_bot ${startToken}`);
    inGroup.says('hello');
    await answerTo(() => anna.person.says('hello'));
    expect(inGroup.received).toEqual([]);
    expect(scenario.channel(channelId).status).toBe('added');
  });
});
