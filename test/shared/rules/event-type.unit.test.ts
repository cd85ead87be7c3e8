import { describe, expect, it } from 'vitest';
import { eventType, isPattern, matchesType } from '../../../shared/rules/inbox/event-type.ts';

const github = { 'x-github-event': 'pull_request' };

const typeOf = (type: string) =>
  eventType({ verification: 'stripe', headers: {}, payload: { type } });

describe('eventType', () => {
  it.each([
    ['stripe', {}, { type: 'invoice.paid' }, 'invoice.paid'],
    ['stripe', {}, { type: '' }, 'webhook.received'],
    ['stripe', {}, { type: 7 }, 'webhook.received'],
    ['stripe', {}, null, 'webhook.received'],
    ['stripe', {}, 'text', 'webhook.received'],
    ['stripe', {}, Object.create({ type: 'inherited' }), 'webhook.received'],
    ['stripe', {}, { type: 'a\nb' }, 'webhook.received'],
    ['stripe', {}, { type: 'a\u009bb' }, 'webhook.received'],
    ['stripe', {}, { type: 'a\u2028b' }, 'webhook.received'],
    ['stripe', {}, { type: 'a\0' }, 'webhook.received'],
    ['stripe', {}, { type: 'a\ud800' }, 'webhook.received'],
    ['stripe', github, { action: 'opened' }, 'webhook.received'],
    ['github', github, { action: 'opened' }, 'pull_request.opened'],
    ['github', { 'x-github-event': 'ping' }, { zen: '…' }, 'ping'],
    ['github', github, { action: 7 }, 'pull_request'],
    ['github', github, { action: '' }, 'pull_request'],
    ['github', github, { action: 'a\u0007' }, 'webhook.received'],
    ['github', github, null, 'pull_request'],
    ['github', github, { payload: '{"action":"closed"}' }, 'pull_request.closed'],
    ['github', github, { payload: '{"action":' }, 'pull_request'],
    ['github', github, { payload: '[1]' }, 'pull_request'],
    ['github', {}, { action: 'opened' }, 'webhook.received'],
    ['github', { 'x-github-event': '' }, { action: 'opened' }, 'webhook.received'],
    ['hmac_sha256', github, { type: 'x', action: 'y' }, 'webhook.received'],
    ['standard_webhooks', {}, { type: 'x' }, 'x'],
    ['none', github, { type: 'x', action: 'y' }, 'webhook.received'],
  ] as const)('%s %j %j is %s', (verification, headers, payload, expected) => {
    expect(eventType({ verification, headers, payload })).toBe(expected);
  });

  it('cuts a type at 255 characters and never inside a pair', () => {
    expect(typeOf('a'.repeat(255))).toHaveLength(255);
    expect(typeOf('a'.repeat(256))).toHaveLength(255);
    expect(typeOf(`${'a'.repeat(254)}😀`)).toBe('a'.repeat(254));
    expect(typeOf(`${'a'.repeat(253)}😀`)).toBe(`${'a'.repeat(253)}😀`);
  });
});

describe('isPattern', () => {
  it.each([
    ['invoice.paid', true],
    ['invoice.*', true],
    ['*', true],
    ['*a', false],
    ['a*b', false],
    ['a**', false],
    ['*a*', false],
  ])('%s: %s', (text, expected) => {
    expect(isPattern(text)).toBe(expected);
  });
});

describe('matchesType', () => {
  it.each([
    [undefined, 'a', true],
    [null, 'a', true],
    ['invoice.paid', 'invoice.paid', true],
    ['invoice.paid', 'invoice.paid.x', false],
    ['invoice.*', 'invoice.paid', true],
    ['invoice.*', 'invoice.', true],
    ['invoice.*', 'invoice', false],
    ['*', '', true],
    ['in*.paid', 'invoice.paid', false],
    ['.*', 'a', false],
    ['**', '*a', true],
    ['', 'a', false],
  ])('%s against %s: %s', (pattern, type, expected) => {
    expect(matchesType(pattern, type)).toBe(expected);
  });
});
