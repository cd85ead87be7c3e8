import { describe, expect, it } from 'vitest';
import type { Vault } from '../../../../shared/kernel/context.ts';
import {
  messageIdOf,
  projectAddress,
  readProjectAddress,
  replyTokenOf,
  reportToken,
  tokenAddresses,
} from '../../../../shared/operations/email/project-address.ts';

const DOMAIN = 'agents.test';
const TOKEN = '0123456789abcdef0123';

/** Signs by saying what it was given, with the key that it has. */
const vaultWith = (key: string): Vault => ({
  seal: () => Buffer.from(''),
  open: () => Buffer.from(''),
  sign: (text) => `${key}|${text}`,
});

describe('the address of a project', () => {
  it('is its slug at the domain of the server, where mail comes in', () => {
    expect(projectAddress({ domain: DOMAIN, from: null }, 'shop')).toBe('shop@agents.test');
    expect(projectAddress({ domain: null, from: 'svc@x.test' }, 'shop')).toBeNull();
  });

  it('with a token fits into a local part, whatever the slug', () => {
    const token = reportToken(vaultWith('k'), 'prj_1', 'msg_1');
    const slug = 's'.repeat(40);
    const { replyTo, returnPath } = tokenAddresses(DOMAIN, slug, token);
    expect(replyTo).toBe(`${slug}+r.${replyTokenOf(token)}@${DOMAIN}`);
    expect(replyTo).not.toContain(token);
    expect(returnPath).toBe(`${slug}+b.${token}@${DOMAIN}`);
    for (const [address, isForReports] of [
      [replyTo, false],
      [returnPath, true],
    ] as const) {
      expect(address.indexOf('@')).toBeLessThanOrEqual(64);
      const named = { slug, token: replyTokenOf(token), isForReports };
      expect(readProjectAddress(address, DOMAIN)).toEqual(named);
    }
  });
});

describe('the token of a message', () => {
  it('is its own: of no other message, project or server', () => {
    const vault = vaultWith('k');
    const token = reportToken(vault, 'prj_1', 'msg_1');
    expect(token).toMatch(/^[0-9a-f]{20}$/);
    expect(reportToken(vault, 'prj_1', 'msg_1')).toBe(token);
    const others = [
      reportToken(vault, 'prj_1', 'msg_2'),
      reportToken(vault, 'prj_2', 'msg_1'),
      reportToken(vaultWith('other'), 'prj_1', 'msg_1'),
    ];
    expect(new Set([token, ...others]).size).toBe(4);
  });
});

describe('reading an address', () => {
  it.each([
    ['shop@agents.test', 'shop', null],
    ['SHOP@Agents.TEST', 'shop', null],
    [`shop+r.${TOKEN}@agents.test`, 'shop', TOKEN],
    [`shop+b.${TOKEN}@agents.test`, 'shop', replyTokenOf(TOKEN), true],
    [`shop+${TOKEN}@agents.test`, 'shop', null],
    [`Shop+R.${TOKEN.toUpperCase()}@AGENTS.test`, 'shop', TOKEN],
    ['web-shop-2@agents.test', 'web-shop-2', null],
    // What a person puts behind the `+` leads to the project all the same.
    ['shop+news@agents.test', 'shop', null],
    ['shop+git-hub.com@agents.test', 'shop', null],
    ['shop+@agents.test', 'shop', null],
    [`shop+r.a+${TOKEN}@agents.test`, 'shop', null],
    [`shop+r.${TOKEN}0@agents.test`, 'shop', null],
  ])('%s', (address, slug, token, isForReports = false) => {
    expect(readProjectAddress(address, DOMAIN)).toEqual({ slug, token, isForReports });
  });

  it.each([
    'shop@example.com',
    'shop@sub.agents.test',
    'shop@agents.test.example.com',
    'shop@xagents.test',
    '-shop@agents.test',
    'sh op@agents.test',
    'sh.op@agents.test',
    `${'s'.repeat(41)}@agents.test`,
    '@agents.test',
    '+x@agents.test',
    'agents.test',
    'shop',
    '',
  ])('%j is none of ours', (address) => {
    expect(readProjectAddress(address, DOMAIN)).toBeNull();
  });

  it('finds none where mail has no domain', () => {
    for (const address of ['shop@agents.test', 'shop', '']) {
      expect(readProjectAddress(address, '')).toBeNull();
    }
  });

  it('takes a time that grows with its length alone', () => {
    expect(readProjectAddress(`${'a+'.repeat(200_000)}@agents.test`, DOMAIN)).toEqual({
      slug: 'a',
      token: null,
      isForReports: false,
    });
  });
});

describe('a Message-ID', () => {
  const id = 'msg_01kb00000000000000000000zz';
  it.each([
    [`<${id}@agents.test>`, id],
    [`${id}@agents.test`, id],
    [` <${id}@eu-west-1.example.com> `, id],
    [`<${id}@>`, null],
    [`<${id}>`, null],
    [`<x${id}@agents.test>`, null],
    [`<${id}0@agents.test>`, null],
    [`<ntc_01kb00000000000000000000zz@agents.test>`, null],
    [`<${id}@a b>`, null],
    [`<${id}@a>, <x@y>`, null],
    ['', null],
  ])('%j', (header, found) => {
    expect(messageIdOf(header)).toBe(found);
  });
});
