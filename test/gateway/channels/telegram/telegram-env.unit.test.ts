import { describe, expect, it } from 'vitest';
import { readTelegramSettings } from '../../../../gateway/channels/telegram/telegram-env.ts';

const SVC_TELEGRAM_TOKEN = '123456:AAbbCC-dd_ee';

describe('the settings of Telegram', () => {
  it('are none without a token', () => {
    expect(readTelegramSettings({})).toBeNull();
    expect(readTelegramSettings({ SVC_TELEGRAM_TOKEN: '' })).toBeNull();
  });

  it('need no more than a token', () => {
    expect(readTelegramSettings({ SVC_TELEGRAM_TOKEN })).toEqual({
      token: SVC_TELEGRAM_TOKEN,
      apiRoot: 'https://api.telegram.org',
      mode: 'poll',
    });
  });

  it('name another server, and how updates come', () => {
    const env = {
      SVC_TELEGRAM_API_ROOT: 'http://127.0.0.1:8081/bots//',
      SVC_TELEGRAM_MODE: 'webhook',
    };
    expect(readTelegramSettings({ SVC_TELEGRAM_TOKEN, ...env })).toMatchObject({
      apiRoot: 'http://127.0.0.1:8081/bots',
      mode: 'webhook',
    });
  });

  it.each([
    ['SVC_TELEGRAM_TOKEN', 'hunter2'],
    ['SVC_TELEGRAM_TOKEN', '123456:hunter2/../x'],
    ['SVC_TELEGRAM_API_ROOT', 'hunter2'],
    ['SVC_TELEGRAM_API_ROOT', 'ftp://hunter2'],
    ['SVC_TELEGRAM_API_ROOT', 'https://a:hunter2@x'],
    ['SVC_TELEGRAM_API_ROOT', 'https://x/?hunter2'],
    ['SVC_TELEGRAM_MODE', 'hunter2'],
  ])('%s=%s is refused, and not shown', (name, value) => {
    const read = readTelegramSettings({ SVC_TELEGRAM_TOKEN, [name]: value });
    expect(read).toEqual({ problems: [expect.stringContaining(name)] });
    expect(JSON.stringify(read)).not.toContain('hunter2');
  });
});
