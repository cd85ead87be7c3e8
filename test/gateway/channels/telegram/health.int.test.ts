import { afterEach, describe, expect, it } from 'vitest';
import { SOON, Scenario } from './scenario.ts';

const UNAUTHORIZED = { kind: 'error', code: 401, description: 'Unauthorized' } as const;

let scenario: Scenario;
afterEach(() => scenario.stop());

describe('a bot that does not work', () => {
  it('says that it has not been answered yet, then why, and nothing once it works', async () => {
    scenario = await Scenario.prepare();
    expect(scenario.bot.trouble).toBe("Telegram hasn't answered yet.");
    scenario.telegram.fail('getMe', { kind: 'close' }, 3);
    await scenario.bot.start();
    expect(scenario.bot.trouble).toBe('Telegram, getMe: no answer (ECONNRESET)');
    await expect.poll(() => scenario.bot.trouble, SOON).toBeNull();
  });

  it('because Telegram refuses its token says so for good', async () => {
    scenario = await Scenario.prepare();
    scenario.telegram.fail('getMe', UNAUTHORIZED, 100);
    await expect(scenario.bot.start()).rejects.toThrow('401 Unauthorized');
    expect(scenario.bot.trouble).toBe('Telegram, getMe: 401 Unauthorized');
  });

  it('because its polls are refused says so until one is answered', async () => {
    scenario = await Scenario.start();
    await expect.poll(() => scenario.telegram.count('getUpdates'), SOON).toBe(1);
    expect(scenario.bot.trouble).toBeNull();
    scenario.telegram.fail('getUpdates', UNAUTHORIZED, 3);
    scenario.telegram.cut();
    await expect.poll(() => scenario.bot.trouble, SOON).toContain('401 Unauthorized');
    scenario.telegram.person(6666, 'Eve').says('hello');
    await expect.poll(() => scenario.bot.trouble, SOON).toBeNull();
  });

  it('by webhook shows it when the next message is refused', async () => {
    scenario = await Scenario.start({ mode: 'webhook' });
    const anna = await scenario.connect(7001, 'Anna');
    expect(scenario.bot.trouble).toBeNull();
    scenario.telegram.fail('sendMessage', UNAUTHORIZED);
    await expect(scenario.ask(anna)).rejects.toThrow('later');
    expect(scenario.bot.trouble).toBe('Telegram, sendMessage: 401 Unauthorized');
    await scenario.ask(anna);
    expect(scenario.bot.trouble).toBeNull();
  });

  it('does not say so for a person who blocked it', async () => {
    scenario = await Scenario.start();
    const anna = await scenario.connect(7001, 'Anna');
    anna.person.chat.isBlocked = true;
    await expect(scenario.ask(anna)).rejects.toThrow('refused');
    expect(scenario.bot.trouble).toBeNull();
  });
});
