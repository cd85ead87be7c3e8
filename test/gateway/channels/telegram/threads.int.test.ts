import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FakeTelegram } from '../../../helpers/fake-telegram.ts';
import { FakeClock, type TestGateway } from '../../../helpers/gateway.ts';
import type { FakeMessage, FakePerson } from '../../../helpers/telegram-person.ts';
import { startWithBot, TestPeople } from '../../approvals/people.ts';

const SOON = { interval: 5, timeout: 60_000 } as const;
const THREAD = 'shop on laptop, session 1';

let test: TestGateway;
let telegram: FakeTelegram;
let people: TestPeople;
let anna: FakePerson;
beforeEach(async () => {
  const clock = new FakeClock();
  ({ test, telegram } = await startWithBot(clock));
  people = await TestPeople.of(test, clock);
  anna = telegram.person(7001, 'Anna');
  await people.chat(anna, { verb: 'approve' });
});
afterEach(async () => {
  await test.stop();
  await telegram.stop();
});

const labels = (message: FakeMessage) => message.buttons.map((row) => row.map(({ text }) => text));

/** Asks about a command of the session, and the message about it. */
async function asked(bind: object, action = 'tool.Bash') {
  const { body } = await people.ask({ action, summary: 'Run it', bind, thread: THREAD });
  const notified = async () => (await people.status(body.request_id)).notified;
  const sent = async () => (await notified()).every(({ status }) => status === 'sent');
  await expect.poll(sent, SOON).toBe(true);
  const message = anna.received.findLast(({ shown }) => shown.text.includes(THREAD));
  if (!message) throw new Error('No message came.');
  const status = async () => (await people.status(body.request_id)).status;
  return { message, status };
}

describe('the questions of a session in Telegram', () => {
  it('answer the first of them, and say how many were asked and allowed', async () => {
    const first = await asked({ command: 'a' });
    anna.taps(first.message, 'Approve');
    await expect.poll(first.status, SOON).toBe('approved');
    const second = await asked({ command: 'b' });
    expect(first.message.replyTo).toBeNull();
    expect(second.message.replyTo).toBe(first.message.message_id);
    expect(second.message.shown.text).toContain(`Session: ${THREAD}: 2 asked, 1 allowed`);
  });

  it('are approved for an hour by one tap', async () => {
    const { message, status } = await asked({ command: 'a' });
    expect(labels(message)[1]).toEqual(['✅ Approve, and for an hour also this very command']);
    anna.taps(message, 'for an hour');
    await expect.poll(status, SOON).toBe('approved');
    const again = { action: 'tool.Bash', summary: 'x', bind: { command: 'a' }, thread: THREAD };
    expect((await people.ask(again)).body.status).toBe('approved');
  });

  it('have no such button where it could not say all that it covers', async () => {
    const path = `/home/ana/${'deep/'.repeat(20)}a.ts`;
    const { message } = await asked({ file_path: path }, 'tool.Edit');
    expect(labels(message).flat().join()).not.toContain('for an hour');
  });

  it('are stopped by a second tap alone, which a hasty one does not hit', async () => {
    const { message, status } = await asked({ command: 'a' });
    const hasty = message.buttons[2]?.findIndex(({ text }) => text.includes('Stop')) ?? -1;
    anna.taps(message, 'Stop the session');
    const row = () => labels(message)[2];
    await expect.poll(row, SOON).toEqual(['⚠️ Really stop the session?', '↩️ Back']);
    expect(row()?.[hasty]).toBe('↩️ Back');
    expect(await status()).toBe('pending');
    anna.taps(message, 'Really stop');
    await expect.poll(status, SOON).toBe('denied');
    const again = { action: 'tool.Bash', summary: 'x', bind: { command: 'b' }, thread: THREAD };
    expect((await people.ask(again)).body).toMatchObject({
      status: 'denied',
      hint: expect.stringContaining('stopped: ') as string,
    });
  });
});
