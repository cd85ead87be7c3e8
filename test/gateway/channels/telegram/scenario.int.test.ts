import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SOON, Scenario, type Asked } from './scenario.ts';

describe.each(['poll', 'webhook'] as const)(
  'a person is asked by Telegram, updates by %s',
  (mode) => {
    let scenario: Scenario;
    let anna: Asked;
    beforeEach(async () => {
      scenario = await Scenario.start({ mode });
      anna = await scenario.connect(7001, 'Anna');
    });
    afterEach(() => scenario.stop());

    it('knows its name and makes links with it', () => {
      expect(scenario.bot.username).toBe('svc_test_bot');
      expect(scenario.bot.startUrl('abc')).toBe('https://t.me/svc_test_bot?start=abc');
    });

    it('connects a chat by its start link and says what comes next', () => {
      const { chat } = scenario.channel(anna.channelId);
      expect(chat).toEqual({ chatId: 7001, userId: 7001, name: 'Anna' });
      const [welcome] = anna.person.received;
      expect(welcome?.shown.text).toContain('Connected');
      expect(welcome?.shown.text).toContain('owner has to approve');
    });

    it('shows everything a person needs and the buttons', async () => {
      const { message, token } = await scenario.ask(anna, {
        amount: 1250000.5,
        details: 'They are from 2024.',
        options: ['Only the oldest'],
      });
      const { text } = message.shown;
      for (const part of [
        'Approval requested',
        'Acme & Sons (acme)',
        'deploy-bot on claude-code, key ci',
        'Delete three old backups',
        'backup.delete',
        'Amount: 1,250,000.5',
        'Risk: medium',
        '1. Only the oldest',
        'Expires: 2026-01-03 03:04 UTC, in 1 d',
        'Fingerprint: ab12cd34ef56',
        'They are from 2024.',
      ]) {
        expect(text).toContain(part);
      }
      const labels = message.buttons.map((row) => row.map((button) => button.text));
      expect(labels).toEqual([
        ['✅ Approve', '⛔ Deny'],
        ['✅ Approve as 1: Only the oldest'],
        ['❓ Needs context'],
        ['Open full text'],
      ]);
      const page = message.buttons.at(-1)?.[0]?.url;
      expect(page).toMatch(new RegExp(`^https?://[^/]+/a/${token}$`));
    });

    it('approves by a tap, and the message says so without buttons', async () => {
      const { message, requestId } = await scenario.ask(anna);
      anna.person.taps(message, 'Approve');
      await expect.poll(() => scenario.status(requestId), SOON).toBe('approved');
      await expect
        .poll(() => anna.person.toasts, SOON)
        .toEqual([{ text: '✅ Approved', isAlert: false }]);
      await expect.poll(() => message.buttons, SOON).toEqual([]);
      expect(message.shown.text).toMatch(/^✅ Approved by you, 03:04 UTC/);
      expect(message.shown.text).toContain('Delete three old backups');
      expect(scenario.troubles).toEqual([]);
    });

    it('denies by a tap', async () => {
      const { message, requestId } = await scenario.ask(anna);
      anna.person.taps(message, 'Deny');
      await expect.poll(() => scenario.status(requestId), SOON).toBe('denied');
      await expect.poll(() => message.shown.text, SOON).toMatch(/^⛔ Denied by you/);
      expect(message.buttons).toEqual([]);
    });

    it('approves with a change by an option', async () => {
      const { message, requestId } = await scenario.ask(anna, { options: ['Half', 'A third'] });
      anna.person.taps(message, 'A third');
      await expect.poll(() => scenario.status(requestId), SOON).toBe('modified');
      expect(scenario.approvals.request(requestId).decision).toBe('A third');
      await expect
        .poll(() => message.shown.text, SOON)
        .toMatch(/^✅ Approved by you with a change/);
      expect(message.shown.entities).toContainEqual({ tag: 'pre', text: 'A third', href: null });
    });

    it('answers a question by an option', async () => {
      const { message, requestId } = await scenario.ask(anna, {
        kind: 'question',
        action: null,
        risk: null,
        summary: 'Which region?',
        options: ['Europe', 'Asia'],
      });
      anna.person.taps(message, 'Europe');
      await expect.poll(() => scenario.status(requestId), SOON).toBe('answered');
      expect(scenario.approvals.request(requestId).decision).toBe('Europe');
    });

    it('shows what was decided elsewhere, and refuses a tap that comes later', async () => {
      const { message, requestId, token } = await scenario.ask(anna);
      scenario.isOutboxStopped = true;
      scenario.approvals.decideElsewhere(requestId, 'denied', 'Boss (email)');
      anna.person.taps(message, 'Approve');
      const words = 'Nothing changed. Denied by Boss (email), 2026-01-02 03:04 UTC';
      await expect.poll(() => anna.person.toasts, SOON).toEqual([{ text: words, isAlert: true }]);
      await expect.poll(() => message.shown.text, SOON).toMatch(/^⛔ Denied\nBy: Boss \(email\)/);
      expect(message.buttons).toEqual([]);
      expect(scenario.status(requestId)).toBe('denied');
      expect(token).toHaveLength(40);
    });

    it('edits every message of a request when it is over', async () => {
      const ben = await scenario.connect(7002, 'Ben');
      const first = await scenario.ask(anna);
      const token = scenario.approvals.tokenFor(first.requestId, ben.channelId);
      const second = await scenario.send(ben, first.requestId, token);
      ben.person.taps(second, 'Approve');
      await expect.poll(() => first.message.shown.text, SOON).toMatch(/^✅ Approved\nBy: Ben/);
      await expect.poll(() => second.shown.text, SOON).toMatch(/^✅ Approved by you, /);
      expect(first.message.buttons).toEqual([]);
      expect(second.buttons).toEqual([]);
    });

    it('ends the message that was tapped, even a twin that nobody remembers', async () => {
      const { message, requestId, token } = await scenario.ask(anna);
      const twin = await scenario.send(anna, requestId, token);
      scenario.isOutboxStopped = true;
      anna.person.taps(twin, 'Approve');
      await expect.poll(() => twin.buttons, SOON).toEqual([]);
      expect(message.buttons).not.toEqual([]);
      anna.person.taps(message, 'Deny');
      await expect.poll(() => message.buttons, SOON).toEqual([]);
      expect(scenario.status(requestId)).toBe('approved');
      expect(message.shown.text).toMatch(/^✅ Approved/);
    });

    it('does not decide what has expired', async () => {
      const { message, requestId } = await scenario.ask(anna);
      scenario.clock.advance(25 * 3_600_000);
      anna.person.taps(message, 'Approve');
      await expect.poll(() => scenario.status(requestId), SOON).toBe('expired');
      await expect.poll(() => message.shown.text, SOON).toMatch(/^⌛ Expired/);
      await expect.poll(() => anna.person.toasts[0]?.text ?? '', SOON).toContain('Expired');
    });

    it('tells of what a rule approved, without buttons', async () => {
      const { requestId } = scenario.approvals.ask(anna.channelId, {
        status: 'approved',
        decidedBy: 'small-refunds',
        decidedAt: scenario.clock.now(),
      });
      const opened = scenario.approvals.openedBy(requestId, anna.channelId);
      const sent = await scenario.deliver(anna.person, { kind: 'tell', opened });
      expect(sent.outcome).toBe('sent');
      const notice = anna.person.received.at(-1);
      expect(notice?.shown.text).toContain('Approved without asking');
      expect(notice?.shown.text).toContain('small-refunds');
      expect(notice?.buttons).toEqual([]);
    });
  },
);
