import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signInMessage } from '../../../../gateway/auth/sign-in-message.ts';
import { rateLimited, StartLimit } from '../../../../gateway/auth/start-limit.ts';
import { newUserCode } from '../../../../gateway/auth/user-code.ts';
import { effectiveLoginState } from '../../../../gateway/store/control/login-state.ts';
import { SLUG, slugOf, slugsFor } from '../../../../shared/rules/slug.ts';

describe('the slug of a name', () => {
  it.each([
    ['Acme Shop', 'acme-shop'],
    ['  Ünïcorn & Co.  ', 'unicorn-co'],
    ['ＡＢＣ１２', 'abc12'],
    ['ﬁne', 'fine'],
    ['a_b.c/d', 'a-b-c-d'],
    ['---', 'project'],
    ['東京', 'project'],
    ['x'.repeat(100), 'x'.repeat(40)],
    [`${'x'.repeat(39)} yz`, 'x'.repeat(39)],
  ])('%j is %s', (name, slug) => {
    expect(slugOf(name)).toBe(slug);
  });

  it('is one whatever the name, with ten variants that are all different', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (name) => {
        const slugs = slugsFor(name, 'r4nd0m12');
        expect(slugs).toHaveLength(10);
        expect(new Set(slugs).size).toBe(10);
        expect(slugs.filter((slug) => !SLUG.test(slug) || slug.length > 40)).toEqual([]);
      }),
    );
  });

  it('is varied at its end', () => {
    expect(slugsFor('a', 'r4nd0m12')).toEqual(
      'a a-2 a-3 a-4 a-5 a-6 a-7 a-8 a-9 a-r4nd0m12'.split(' '),
    );
    expect(slugsFor('x'.repeat(50), 'r4nd0m12').at(-1)).toBe(`${'x'.repeat(31)}-r4nd0m12`);
  });
});

describe('a code', () => {
  it('is two words and a number, of more than a million', () => {
    const codes = Array.from({ length: 20_000 }, newUserCode);
    expect(codes.filter((code) => !/^[A-Z]{3,6}-[A-Z]{3,6}-[1-9]\d$/.test(code))).toEqual([]);
    const kinds = [0, 1, 2].map((part) => new Set(codes.map((code) => code.split('-')[part])).size);
    // With 20,000 draws none of 128 words is missing but by a chance of one in 10^65.
    expect(kinds).toEqual([128, 128, 90]);
    expect(128 * 128 * 90).toBeGreaterThan(2 ** 20);
  });
});

describe('a sign-in', () => {
  it('expires while it waits and while it is confirmed, and not after', () => {
    const states = ['waiting', 'confirmed', 'denied', 'used'] as const;
    const at = (now: number) =>
      states.map((state) => effectiveLoginState({ state, expires_at: 1000 }, now));
    expect(at(999)).toEqual(['waiting', 'confirmed', 'denied', 'used']);
    expect(at(1000)).toEqual(['expired', 'expired', 'denied', 'used']);
  });
});

/** How many of these were let through. */
function taken(limit: StartLimit, addresses: readonly string[], now = 0): number {
  return addresses.filter((address) => {
    try {
      limit.take(address, now);
      return true;
    } catch {
      return false;
    }
  }).length;
}

function times(count: number, address: string): string[] {
  return Array.from({ length: count }, () => address);
}

describe('the limit of a network address', () => {
  it('counts each IPv4 address, and each /64 of IPv6 as one', () => {
    const limit = new StartLimit();
    expect(taken(limit, times(25, '192.0.2.1'))).toBe(20);
    expect(taken(limit, times(25, '192.0.2.2'))).toBe(20);
    expect(taken(limit, times(15, '2001:db8::1'))).toBe(15);
    expect(taken(limit, times(15, '2001:db8:0:0:ffff::2'))).toBe(5);
    expect(taken(limit, times(15, '2001:db8:0:1::1'))).toBe(15);
    expect(taken(limit, times(25, 'fe80::1%eth0.1'))).toBe(20);
    expect(taken(limit, times(25, 'unix'))).toBe(20);
  });

  it('lets one more begin as each gets an hour old', () => {
    const limit = new StartLimit();
    for (let n = 0; n < 20; n += 1) limit.take('192.0.2.1', n * 1000);
    expect(taken(limit, ['192.0.2.1'], 3_599_999)).toBe(0);
    expect(taken(limit, times(2, '192.0.2.1'), 3_600_000)).toBe(1);
    expect(taken(limit, times(2, '192.0.2.1'), 3_601_000)).toBe(1);
  });

  it('goes on for those of late when there are many addresses', () => {
    const limit = new StartLimit();
    taken(limit, times(20, '192.0.2.1'), 0);
    taken(
      limit,
      Array.from({ length: 10_001 }, (_, n) => `unix ${n}`),
      1000,
    );
    expect(taken(limit, ['192.0.2.1'], 1000)).toBe(0);
    taken(
      limit,
      Array.from({ length: 10_001 }, (_, n) => `unix ${n}`),
      3_601_001,
    );
    expect(taken(limit, times(25, '192.0.2.1'), 3_601_001)).toBe(20);
  });

  it('names whole seconds, one at least', () => {
    expect([1, 1000, 1001].map((ms) => rateLimited(ms).details)).toEqual([
      { retry_after: 1 },
      { retry_after: 1 },
      { retry_after: 2 },
    ]);
  });
});

describe('the letter', () => {
  const client = { name: null, version: null, host: null, userAgent: null, address: '192.0.2.7' };
  const login = {
    state: 'waiting' as const,
    userCode: 'ENJOY-RIVER-42',
    email: 'a***@example.com',
    client,
    createdAt: Date.UTC(2026, 0, 2, 12, 30, 59),
    expiresAt: 0,
    codesLeft: 2,
    now: 0,
  };

  it('says who asks, has one link, and not the code', () => {
    const words = { name: 'svc', version: '0.1.0', host: 'laptop', userAgent: 'svc/0.1.0' };
    const letter = signInMessage(
      { ...login, client: { ...client, ...words } },
      'https://a.example/s/t',
    );
    expect(letter.subject).toBe('svc: confirm your sign-in');
    expect(letter.text).toBe(`Someone wants to sign in to svc with this address.

Program:  "svc 0.1.0"
Computer: "laptop"
Address:  192.0.2.7
Browser:  "svc/0.1.0"
Started:  2026-01-02 12:30 UTC

If that's you, type the code from your terminal on this page:

https://a.example/s/t

Opening the page confirms nothing. The link works for 15 minutes. Never type
a code that somebody sent you, and don't forward this email.

Wasn't you? Say so on the page, or do nothing. We don't read replies.
`);
  });

  it('leaves out what was not said', () => {
    const { text } = signInMessage(login, 'https://a.example/s/t');
    expect(text).not.toMatch(/Program|Computer|Browser/);
  });

  it.each([
    ['locked? https://evil.example/in', 'locked? https[://]evil[.]example/in'],
    ['www.evil.example', 'www[.]evil[.]example'],
    ['evil。example／in', 'evil[。]example／in'],
    ['help@evil.example', 'help[@]evil[.]example'],
    ['laptop.local, svc 0.1.0', 'laptop[.]local, svc 0.1.0'],
  ])('makes no link of what a stranger wrote: %s', (written, shown) => {
    const said = { name: written, host: written, userAgent: written };
    const { text } = signInMessage(
      { ...login, client: { ...client, ...said } },
      'https://a.example',
    );
    expect(text.match(/(?<=^(?:Program|Computer|Browser): +").*(?="$)/gm)).toEqual([
      shown,
      shown,
      shown,
    ]);
  });

  it('keeps what a stranger wrote on its line and in its quotes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (host) => {
        const { text } = signInMessage(
          { ...login, client: { ...client, host } },
          'https://a.example',
        );
        const lines = text.split('\n');
        expect(lines).toHaveLength(15);
        expect(
          lines.filter((line) => line.startsWith('Computer: "') && line.endsWith('"')),
        ).toHaveLength(1);
        expect(text.match(/"/g)).toHaveLength(2);
      }),
    );
  });
});
