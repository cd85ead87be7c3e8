import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TxtRecords } from '../../../../../gateway/mail/inbound/reader/dns.ts';
import { parseMail } from '../../../../../gateway/mail/inbound/reader/parse.ts';
import { DnsServer } from '../../../../helpers/dns-server.ts';
import { mailOf, NOW, rsaKey, signed, type SigningKey } from './signed-mail.ts';

let goodKey: SigningKey;
let evilKey: SigningKey;
beforeAll(() => {
  goodKey = rsaKey();
  evilKey = rsaKey();
});

let dns: DnsServer;
let records: TxtRecords;
beforeEach(async () => {
  const domains = {
    'good.test': goodKey,
    'evil.test': evilKey,
    // `bücher.test`, and `gооd.test` with two Cyrillic letters.
    'xn--bcher-kva.test': evilKey,
    'xn--gd-fmca.test': evilKey,
  };
  const published = Object.entries(domains).flatMap(([domain, { record }]) => [
    [`s1._domainkey.${domain}`, record] as const,
    [`_dmarc.${domain}`, 'v=DMARC1; p=reject'] as const,
  ]);
  dns = await DnsServer.start(Object.fromEntries(published));
  records = new TxtRecords([dns.address]);
});
afterEach(() => dns.stop());

/** A mail with this From, signed by a domain with its true key. */
async function read(from: string, domain = 'evil.test', fields = 'from:to:subject:date') {
  const key = domain === 'good.test' ? goodKey : evilKey;
  const latin1 = Buffer.from(from, 'utf8').toString('latin1');
  return readMail(signed(mailOf({ From: latin1 }), { domain, key, fields }));
}

async function readMail(mail: string) {
  const bytes = Buffer.from(mail, 'latin1');
  const seen = { now: NOW, whole: true, sizeBytes: bytes.length };
  const { verified, payload } = await parseMail(bytes, seen, records);
  return { verified, address: payload.from?.address, ...payload.authentication };
}

describe('a sender that is no plain address is not verified', () => {
  it.each([
    'ceo@good.test@evil.test',
    '<ceo@good.test@evil.test>',
    'Ceo <@good.test:eve@evil.test>',
    '@good.test:eve@evil.test',
    '<@good.test,@other.test:eve@evil.test>',
    '"ceo@good.test"@evil.test',
    '<"ceo@good.test"@evil.test>',
    '"ceo@good.test,"@evil.test',
    '<"ceo"@evil.test>',
    'ceo"@good.test"@evil.test',
    'ceo%good.test@evil.test',
    'good.test!ceo@evil.test',
    'ceo\\@good.test@evil.test',
    '<ceo@good.test> <eve@evil.test>',
    '<ceo@good.test>, <eve@evil.test>',
    '<ceo@good.test>; <eve@evil.test>',
    '<<ceo@good.test> eve@evil.test>',
    'eve@evil.test <ceo@good.test',
    '<eve@evil.test> ceo@good.test',
    'team: eve@evil.test;',
    'ceo@good.test:eve@evil.test',
    'ceo@good.test eve@evil.test',
    'ceo@good.test\teve@evil.test',
    'ceo @good.test eve@evil.test',
    '=?utf-8?q?ceo=40good.test?=@evil.test',
    '=?utf-8?q?ceo=40good.test=20?= eve@evil.test',
    '=?utf-8?q?ceo=40good.test=3E=2C?=<eve@evil.test',
    'ceo@good.test(@evil.test',
    'eve@evil.test.',
    'eve@.evil.test',
    'eve@[evil.test]',
    'eve@[192.0.2.1]',
    'eve@',
    '@evil.test',
    'eve',
    'eve@evil.test\u0000',
    'eve\u0000@evil.test',
    'eve\u200b@evil.test',
    'eve\u202e@evil.test',
    'eve\u00a0@evil.test',
    'eve@evil\u00ad.test',
    'eve@e\u200dvil.test',
    'ceo＠good.test@evil.test',
    'ceo﹫good.test@evil.test',
    'ceo％good.test@evil.test',
    'ceo＠good.test，eve@evil.test',
    'eve@ｅｖｉｌ.test',
    'eve@evil。test',
    'eve@ev%69l.test',
    'eve@evil.test/good.test',
    'eve@evil.test:25',
    'eve@evil.test?good.test',
  ])('%j', async (from) => {
    expect(await read(from)).toMatchObject({ verified: false, unsigned: null });
  });
});

describe('a sender that every reader sees alike is verified as what it is', () => {
  it.each([
    ['eve@evil.test', 'eve@evil.test'],
    ['<eve@evil.test>', 'eve@evil.test'],
    ['EVE@Evil.TEST', 'EVE@Evil.TEST'],
    // The name is only a name.
    ['"ceo@good.test" <eve@evil.test>', 'eve@evil.test'],
    ['ceo@good.test <eve@evil.test>', 'eve@evil.test'],
    ['=?utf-8?q?ceo=40good.test?= <eve@evil.test>', 'eve@evil.test'],
    ['"Ceo \\"x\\" <ceo@good.test>" <eve@evil.test>', 'eve@evil.test'],
    ['(ceo@good.test) eve@evil.test', 'eve@evil.test'],
    ['eve@evil.test (ceo@good.test)', 'eve@evil.test'],
    ['eve(ceo@good.test,)@evil.test', 'eve@evil.test'],
    // Some providers gave out such addresses.
    ['eve..x.@evil.test', 'eve..x.@evil.test'],
    ['eve+ceo@evil.test', 'eve+ceo@evil.test'],
  ])('%j', async (from, address) => {
    expect(await read(from)).toMatchObject({ verified: true, address, from_domain: 'evil.test' });
    expect(await read(from, 'good.test')).toMatchObject({ verified: false });
  });

  it('in the script of its domain, which may look like another one', async () => {
    const own = await read('eve@bücher.test', 'xn--bcher-kva.test');
    expect(own).toMatchObject({ verified: true, from_domain: 'xn--bcher-kva.test' });
    const alike = await read('ceo@g\u043e\u043ed.test', 'xn--gd-fmca.test');
    expect(alike).toMatchObject({ verified: true, from_domain: 'xn--gd-fmca.test' });
    expect(await read('ceo@g\u043e\u043ed.test', 'good.test')).toMatchObject({ verified: false });
  });
});

describe('a signature over From and Date leaves Subject and To to anybody', () => {
  const from = 'eve@evil.test';

  it('and the event says so', async () => {
    const open = await read(from, 'evil.test', 'from:date');
    expect(open).toMatchObject({ verified: true, unsigned: ['message_id', 'to', 'subject'] });
    expect(await read(from, 'evil.test', 'from : to : subject : date : message-id')).toMatchObject({
      verified: true,
      unsigned: [],
    });
  });

  it('also for fields that somebody added on the way', async () => {
    const key = evilKey;
    const mail = signed(mailOf({ From: from }), { domain: 'evil.test', key });
    const more =
      'Reply-To: x@y.test\r\nContent-Type: text/html\r\nIn-Reply-To: <a@b>\r\nCc: c@d.test';
    expect(await readMail(mail.replace('Subject:', `${more}\r\nSubject:`))).toMatchObject({
      verified: true,
      unsigned: ['cc', 'reply_to', 'in_reply_to', 'content_type'],
    });
    const named = 'from:to:subject:date:message-id:reply-to:content-type:in-reply-to:cc';
    const closed = signed(mailOf({ From: from }), { domain: 'evil.test', key, fields: named });
    expect(await readMail(closed.replace('Subject:', `${more}\r\nSubject:`))).toMatchObject({
      verified: false,
      dkim: 'fail',
    });
  });

  it('unless another signature of the sender covers them; one of somebody else does not', async () => {
    const some = signed(mailOf({ From: from }), {
      domain: 'evil.test',
      key: evilKey,
      fields: 'from:date:message-id',
    });
    const others = signed(some, { domain: 'good.test', key: goodKey, fields: 'from:to:subject' });
    expect((await readMail(others)).unsigned).toEqual(['to', 'subject']);
    const own = signed(some, { domain: 'evil.test', key: evilKey, fields: 'from:to' });
    expect((await readMail(own)).unsigned).toEqual(['subject']);
  });
});
