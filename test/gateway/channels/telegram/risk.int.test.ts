import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FakeMessage } from '../../../helpers/telegram-person.ts';
import { SOON, Scenario, type Asked } from './scenario.ts';

let scenario: Scenario;
let anna: Asked;
beforeEach(async () => {
  scenario = await Scenario.start();
  anna = await scenario.connect(7001, 'Anna');
});
afterEach(() => scenario.stop());

const labels = (message: FakeMessage): string[][] =>
  message.buttons.map((row) => row.map(({ text }) => text));

const askHigh = (options: readonly string[] = []) =>
  scenario.ask(anna, { risk: 'high', details: 'All of it.', options });

describe('a request of high risk', () => {
  it('says so first', async () => {
    const { message } = await askHigh();
    expect(message.shown.text).toMatch(/^⚠️ High risk: Approval requested/);
  });

  it('is approved by the second tap alone', async () => {
    const { message, requestId } = await askHigh();
    anna.person.taps(message, 'Approve');
    await expect.poll(() => labels(message).flat(), SOON).toContain('⚠️ Really approve?');
    expect(anna.person.toasts[0]?.text).toContain('High risk');
    expect(scenario.status(requestId)).toBe('pending');
    anna.person.taps(message, 'Really approve?');
    await expect.poll(() => scenario.status(requestId), SOON).toBe('approved');
    await expect.poll(() => message.buttons, SOON).toEqual([]);
  });

  it('is not approved by tapping Approve again and again', async () => {
    const { message, requestId } = await askHigh();
    const data = message.buttons[0]?.[0]?.callback_data ?? '';
    for (let tap = 0; tap < 5; tap += 1) anna.person.sends(message, data);
    await expect.poll(() => anna.person.toasts.length, SOON).toBe(5);
    expect(scenario.status(requestId)).toBe('pending');
    expect(scenario.troubles).toEqual([]);
  });

  it('keeps every button where it was when it asks again, so that haste hits the same one', async () => {
    const { message } = await askHigh(['Half of it']);
    const before = message.buttons;
    anna.person.taps(message, 'Approve as 1');
    await expect
      .poll(() => labels(message)[2], SOON)
      .toEqual(['↩️ Back', '⚠️ Really approve as 1: Half of it?']);
    expect(message.buttons).toHaveLength(before.length);
    expect(message.buttons.slice(0, 2)).toEqual(before.slice(0, 2));
    expect(message.buttons[3]).toEqual(before[3]);
  });

  it('is approved with a change by the second tap alone', async () => {
    const { message, requestId } = await askHigh(['Half of it']);
    anna.person.taps(message, 'Approve as 1');
    await expect
      .poll(() => labels(message).flat().join(), SOON)
      .toContain('Really approve as 1: Half of it?');
    expect(scenario.status(requestId)).toBe('pending');
    anna.person.taps(message, 'Really approve as 1');
    await expect.poll(() => scenario.status(requestId), SOON).toBe('modified');
  });

  it('goes back to its first buttons', async () => {
    const { message, requestId } = await askHigh();
    const before = message.buttons;
    anna.person.taps(message, 'Approve');
    await expect.poll(() => message.edits, SOON).toBe(1);
    anna.person.taps(message, 'Back');
    await expect.poll(() => message.buttons, SOON).toEqual(before);
    expect(scenario.status(requestId)).toBe('pending');
  });

  it('is denied by one tap', async () => {
    const { message, requestId } = await askHigh();
    anna.person.taps(message, 'Deny');
    await expect.poll(() => scenario.status(requestId), SOON).toBe('denied');
  });

  it('that was decided between the two taps stays as it is', async () => {
    const { message, requestId } = await askHigh();
    scenario.isOutboxStopped = true;
    anna.person.taps(message, 'Approve');
    await expect.poll(() => message.edits, SOON).toBe(1);
    scenario.approvals.decideElsewhere(requestId, 'denied', 'Boss');
    anna.person.taps(message, 'Really approve?');
    await expect.poll(() => message.shown.text, SOON).toMatch(/^⛔ Denied\nBy: Boss/);
    expect(scenario.status(requestId)).toBe('denied');
  });
});

describe('a request without high risk', () => {
  it.each(['low', 'medium', null] as const)('takes one tap: %s', async (risk) => {
    const { message, requestId } = await scenario.ask(anna, { risk });
    anna.person.taps(message, 'Approve');
    await expect.poll(() => scenario.status(requestId), SOON).toBe('approved');
  });
});
