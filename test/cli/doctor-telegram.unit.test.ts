import { expect, it } from 'vitest';
import { checkTelegram } from '../../cli/doctor/checks.ts';

const PEOPLE = {
  mail: 'outbox',
  owner: null,
  telegram: true,
  telegram_trouble: null,
  active_email: 1,
  active_telegram: 0,
} as const;

it('svc doctor says nothing of Telegram where there is no bot', () => {
  expect(checkTelegram(null)).toEqual([]);
  expect(checkTelegram({ people: null })).toEqual([]);
  expect(checkTelegram({ people: { ...PEOPLE, telegram: false } })).toEqual([]);
});

it('svc doctor says that the bot is connected', () => {
  expect(checkTelegram({ people: PEOPLE })).toMatchObject([
    { check: 'telegram', status: 'ok', detail: 'the bot is connected' },
  ]);
});

it('svc doctor fails for a bot that does not work, and says why', () => {
  const people = { ...PEOPLE, telegram_trouble: 'Telegram, getMe: 401 Unauthorized' };
  expect(checkTelegram({ people })).toMatchObject([
    { check: 'telegram', status: 'error', detail: 'Telegram, getMe: 401 Unauthorized' },
  ]);
});
