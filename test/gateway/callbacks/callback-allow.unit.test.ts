import { describe, expect, it } from 'vitest';
import { CallbackAllow } from '../../../gateway/callbacks/callback-allow.ts';

describe('SVC_CALLBACK_ALLOW', () => {
  it.each([[undefined], [''], [' ']])('%j allows nothing', (text) => {
    const allow = CallbackAllow.parse(text);
    expect(allow.isEmpty).toBe(true);
    expect(allow.has('127.0.0.1')).toBe(false);
  });

  it('allows what lies in one of its ranges', () => {
    const allow = CallbackAllow.parse('127.0.0.0/8, 10.1.2.0/24 ,::1/128,fd00::/8');
    const inside = ['127.0.0.1', '127.255.255.255', '10.1.2.0', '10.1.2.255', '::1', 'fd12::1'];
    expect(inside.filter((address) => !allow.has(address))).toEqual([]);
    const outside = ['126.255.255.255', '128.0.0.0', '10.1.3.0', '10.1.1.255', '::2', 'fe80::1'];
    expect(outside.filter((address) => allow.has(address))).toEqual([]);
    expect(allow.isEmpty).toBe(false);
  });

  it('knows an IPv4 address that IPv6 wraps, and no family by the other', () => {
    expect(CallbackAllow.parse('127.0.0.0/8').has('::ffff:127.0.0.1')).toBe(true);
    expect(CallbackAllow.parse('::/0').has('127.0.0.1')).toBe(false);
    expect(CallbackAllow.parse('0.0.0.0/0').has('::1')).toBe(false);
    expect(CallbackAllow.parse('0.0.0.0/0').has('255.255.255.255')).toBe(true);
  });

  it.each(['localhost', '', '127.1', '127.0.0.1/8', 'fe80::1%lo'])('holds not %j', (text) => {
    expect(CallbackAllow.parse('0.0.0.0/0,::/0').has(text)).toBe(false);
  });

  it.each([
    ['127.0.0.1', 'is not a range'],
    ['localhost/8', 'is not a range'],
    ['127/8', 'is not a range'],
    ['0x7f.0.0.0/8', 'is not a range'],
    ['127.0.0.0/', 'is not a range'],
    ['127.0.0.0/-1', 'is not a range'],
    ['127.0.0.0/8/8', 'is not a range'],
    ['127.0.0.0/255.0.0.0', 'is not a range'],
    ['fe80::%lo/64', 'is not a range'],
    ['127.0.0.0/8,', 'is not a range'],
    ['127.0.0.0/33', 'has more than 32 bits'],
    ['::/129', 'has more than 128 bits'],
    ['127.0.0.1/8', 'does not begin its range, which is `127.0.0.0/8`'],
    ['fd00::1/8', 'does not begin its range, which is `fd00::/8`'],
    ['::ffff:127.0.0.0/104', 'wraps an IPv4 range'],
  ])('%j is refused', (text, problem) => {
    expect(() => CallbackAllow.parse(text)).toThrow(problem);
  });

  it('names everything that is wrong at once', () => {
    expect(() => CallbackAllow.parse('10.0.0.0/8,nonsense,127.0.0.1/8')).toThrow(
      'SVC_CALLBACK_ALLOW: `nonsense` is not a range of addresses such as `127.0.0.0/8` or `::1/128`. ' +
        'SVC_CALLBACK_ALLOW: `127.0.0.1/8` does not begin its range, which is `127.0.0.0/8`.',
    );
  });
});
