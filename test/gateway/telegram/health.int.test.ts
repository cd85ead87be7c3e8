import { afterEach, describe, expect, it } from 'vitest';
import { SOON, Story } from './story.ts';

const UNAUTHORIZED = { kind: 'error', code: 401, description: 'Unauthorized' } as const;

let story: Story;
afterEach(() => story.stop());

describe('a bot that does not work', () => {
  it('says that it has not been answered yet, then why, and nothing once it works', async () => {
    story = await Story.prepare();
    expect(story.bot.trouble).toBe('Telegram has not answered yet.');
    story.telegram.fail('getMe', { kind: 'close' }, 3);
    await story.bot.start();
    expect(story.bot.trouble).toBe('Telegram, getMe: no answer (ECONNRESET)');
    await expect.poll(() => story.bot.trouble, SOON).toBeNull();
  });

  it('because Telegram refuses its token says so for good', async () => {
    story = await Story.prepare();
    story.telegram.fail('getMe', UNAUTHORIZED, 100);
    await expect(story.bot.start()).rejects.toThrow('401 Unauthorized');
    expect(story.bot.trouble).toBe('Telegram, getMe: 401 Unauthorized');
  });

  it('because its polls are refused says so until one is answered', async () => {
    story = await Story.start();
    await expect.poll(() => story.telegram.count('getUpdates'), SOON).toBe(1);
    expect(story.bot.trouble).toBeNull();
    story.telegram.fail('getUpdates', UNAUTHORIZED, 3);
    story.telegram.cut();
    await expect.poll(() => story.bot.trouble, SOON).toContain('401 Unauthorized');
    story.telegram.person(6666, 'Eve').says('hello');
    await expect.poll(() => story.bot.trouble, SOON).toBeNull();
  });

  it('by webhook shows it when the next message is refused', async () => {
    story = await Story.start({ mode: 'webhook' });
    const anna = await story.connect(7001, 'Anna');
    expect(story.bot.trouble).toBeNull();
    story.telegram.fail('sendMessage', UNAUTHORIZED);
    await expect(story.ask(anna)).rejects.toThrow('later');
    expect(story.bot.trouble).toBe('Telegram, sendMessage: 401 Unauthorized');
    await story.ask(anna);
    expect(story.bot.trouble).toBeNull();
  });

  it('does not say so for a person who blocked it', async () => {
    story = await Story.start();
    const anna = await story.connect(7001, 'Anna');
    anna.person.chat.isBlocked = true;
    await expect(story.ask(anna)).rejects.toThrow('refused');
    expect(story.bot.trouble).toBeNull();
  });
});
