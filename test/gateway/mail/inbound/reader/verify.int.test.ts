import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TxtRecords } from '../../../../../gateway/mail/inbound/reader/dns.ts';
import { parseMail } from '../../../../../gateway/mail/inbound/reader/parse.ts';
import { DnsServer } from '../../../../helpers/dns-server.ts';
import { mailOf, NOW, rsaKey, signed, type SigningKey } from './signed-mail.ts';

let key: SigningKey;
let otherKey: SigningKey;
beforeAll(() => {
  key = rsaKey();
  otherKey = rsaKey();
});

let dns: DnsServer;
let records: TxtRecords;
beforeEach(async () => {
  dns = await DnsServer.start({
    's1._domainkey.shop.example': key.record,
    's1._domainkey.mail.shop.example': key.record,
    '_dmarc.shop.example': 'v=DMARC1; p=reject',
    's1._domainkey.evil.example': otherKey.record,
    '_dmarc.evil.example': 'v=DMARC1; p=reject',
  });
  records = new TxtRecords([dns.address]);
});
afterEach(() => dns.stop());

function publish(name: string, text: string): void {
  dns.records.set(name, [text]);
}

function read(mail: string, now = NOW) {
  const bytes = Buffer.from(mail, 'latin1');
  return parseMail(bytes, { now, whole: true, sizeBytes: bytes.length }, records);
}

async function check(mail: string, now = NOW) {
  const { verified, payload } = await read(mail, now);
  return { verified, ...payload.authentication };
}

const shop = () => ({ domain: 'shop.example', key });
const VERIFIED = {
  verified: true,
  dkim: 'pass',
  dmarc: 'pass',
  spf: 'none',
  from_domain: 'shop.example',
  aligned: true,
  unsigned: [],
};
const UNPROVEN = { ...VERIFIED, verified: false, unsigned: null };

describe('text in the header of a signed mail', () => {
  // Whoever reads it as text must not take it for signed: nothing in it is.
  it('is not signed, and takes the signature away with it', async () => {
    const [header = '', body = ''] = signed(mailOf(), shop()).split('\r\n\r\n');
    const put = await read(`${header}\r\nPay to another account.\r\n\r\n${body}`);
    expect(put.payload.text).toBe('Pay to another account.\n\nThe invoice is attached.\n');
    expect(put).toMatchObject({
      verified: false,
      payload: { authentication: { dkim: 'neutral' } },
    });
  });

  it('that a field of the header follows is no text', async () => {
    const put = await read(`Pay to another account.\r\n${signed(mailOf(), shop())}`);
    expect(put.payload.text).toBe('The invoice is attached.\n');
  });

  it('of a part, which the body brought, is signed', async () => {
    const type = { 'Content-Type': 'multipart/mixed; boundary=b' };
    const mail = mailOf(type, '--b\r\nContent-Type: text/plain\r\nYes.\r\n--b--\r\n');
    const { verified, payload } = await read(signed(mail, shop()));
    expect([verified, payload.text]).toEqual([true, 'Yes.\n']);
  });
});

describe('a mail whose sender is proven', () => {
  it('is signed by the domain of its sender, which publishes a policy', async () => {
    expect(await check(signed(mailOf(), shop()))).toEqual(VERIFIED);
    expect(dns.asked.toSorted()).toEqual(['_dmarc.shop.example', 's1._domainkey.shop.example']);
  });

  it('may have come with bare line feeds', async () => {
    expect(await check(signed(mailOf(), shop()).replaceAll('\r\n', '\n'))).toEqual(VERIFIED);
  });

  it('may carry more signatures, good and bad', async () => {
    const twice = signed(signed(mailOf(), shop()), { domain: 'evil.example', key: otherKey });
    expect(await check(twice)).toEqual(VERIFIED);
    const broken = signed(signed(mailOf(), shop()), { domain: 'evil.example', key });
    expect(await check(broken)).toEqual(VERIFIED);
  });

  it('is the example of RFC 8463, by both of its signatures', async () => {
    publish(
      'brisbane._domainkey.football.example.com',
      'v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
    );
    publish('_dmarc.football.example.com', 'v=DMARC1; p=none');
    const proven = { ...VERIFIED, from_domain: 'football.example.com' };
    expect(await check(RFC_8463, Date.UTC(2018, 5, 11))).toEqual(proven);

    dns.records.delete('brisbane._domainkey.football.example.com');
    publish('test._domainkey.football.example.com', `v=DKIM1; k=rsa; p=${RFC_8463_RSA}`);
    records = new TxtRecords([dns.address]);
    expect(await check(RFC_8463, Date.UTC(2018, 5, 11))).toEqual(proven);
  });
});

describe('alignment', () => {
  const from = { From: 'Ana <ana@news.shop.example>' };

  it('is with the organization of a domain, whose policy holds for those below it', async () => {
    expect(await check(signed(mailOf(from), shop()))).toEqual({
      ...VERIFIED,
      from_domain: 'news.shop.example',
    });
    const below = { domain: 'mail.shop.example', key };
    expect(await check(signed(mailOf(from), below))).toMatchObject({ verified: true });
  });

  it('is with the domain itself where the policy is strict', async () => {
    publish('_dmarc.shop.example', 'v=DMARC1; p=reject; adkim=s');
    expect(await check(signed(mailOf(), shop()))).toEqual(VERIFIED);
    expect(await check(signed(mailOf(from), shop()))).toMatchObject({
      verified: false,
      dkim: 'pass',
      dmarc: 'fail',
      aligned: true,
    });
    // What SPF must be has no say in it.
    publish('_dmarc.shop.example', 'v=DMARC1; p=reject; aspf=s');
    records = new TxtRecords([dns.address]);
    expect(await check(signed(mailOf(from), shop()))).toMatchObject({ verified: true });
  });

  it('is not with a public suffix', async () => {
    publish('s1._domainkey.co.uk', key.record);
    publish('_dmarc.one.co.uk', 'v=DMARC1; p=none');
    const mail = signed(mailOf({ From: 'a@one.co.uk' }), { domain: 'co.uk', key });
    expect(await check(mail)).toMatchObject({ verified: false, dmarc: 'fail', aligned: false });
    const suffix = signed(mailOf({ From: 'a@co.uk' }), { domain: 'co.uk', key });
    expect(await check(suffix)).toMatchObject({ verified: false, dmarc: 'none' });
    expect(dns.asked).not.toContain('_dmarc.null');
  });
});

describe('a mail whose sender is not proven', () => {
  it('is not signed, whatever its header says of that', async () => {
    const claimed = mailOf({
      'Authentication-Results': 'mx.inbox.example; dkim=pass header.d=shop.example; dmarc=pass',
      'ARC-Authentication-Results': 'i=1; mx.inbox.example; dkim=pass; dmarc=pass',
      'Received-SPF': 'pass',
    });
    expect(await check(claimed)).toEqual({
      ...UNPROVEN,
      dkim: 'none',
      dmarc: 'fail',
      aligned: false,
    });
  });

  it('is signed by somebody else', async () => {
    const forged = signed(mailOf(), { domain: 'evil.example', key: otherKey });
    expect(await check(forged)).toEqual({
      ...UNPROVEN,
      dmarc: 'fail',
      aligned: false,
    });
  });

  it('comes from a domain without a policy', async () => {
    dns.records.delete('_dmarc.shop.example');
    expect(await check(signed(mailOf(), shop()))).toMatchObject({
      verified: false,
      dkim: 'pass',
      dmarc: 'none',
      aligned: true,
    });
  });

  it('was changed on its way', async () => {
    const mail = signed(mailOf(), shop());
    const body = await check(mail.replace('invoice is', 'invoice was'));
    expect(body).toMatchObject({ verified: false, dkim: 'neutral', dmarc: 'fail' });
    const subject = await check(mail.replace('Invoice 42', 'Invoice 43'));
    expect(subject).toMatchObject({ verified: false, dkim: 'fail', dmarc: 'fail' });
  });

  it('names more than one sender, or none', async () => {
    const mail = signed(mailOf(), shop());
    for (const two of [
      `From: Boss <boss@bank.example>\r\n${mail}`,
      mail.replace('Subject:', 'From: Boss <boss@bank.example>\r\nSubject:'),
      signed(mailOf({ From: 'ana@shop.example, boss@bank.example' }), shop()),
      signed(mailOf({ From: 'ana@shop.example, ana@shop.example' }), shop()),
      signed(mailOf({ From: 'team: ana@shop.example, boss@bank.example;' }), shop()),
    ]) {
      expect(await check(two)).toMatchObject({
        verified: false,
        dmarc: 'permerror',
        from_domain: null,
      });
    }
    const nobody = signed(mailOf({ From: null }), shop());
    expect(await check(nobody)).toMatchObject({ verified: false, dmarc: 'none' });
  });
});

/** What is said of a signature with these tags, which must not prove anything. */
async function refused(tags: Readonly<Record<string, string | null>>, fields?: string) {
  const mail = signed(mailOf(), { ...shop(), tags, ...(fields !== undefined && { fields }) });
  const { verified, dkim, dmarc } = await check(mail);
  expect({ verified, dmarc }).toEqual({ verified: false, dmarc: 'fail' });
  return dkim;
}

describe('a signature that does not count', () => {
  it('is over a part of the body', async () => {
    const whole = Buffer.byteLength('The invoice is attached.\r\n');
    expect(await refused({ l: String(whole) })).toBe('policy');
    const part = signed(mailOf(), { ...shop(), tags: { l: '11' }, bodyBytes: 11 });
    expect(await check(part)).toMatchObject({ verified: false, dkim: 'policy' });
    expect(await refused({ l: '0' })).toBe('policy');
  });

  it('is of a broken kind or cannot be read', async () => {
    expect(await refused({ a: 'rsa-sha1' })).toBe('policy');
    expect(await refused({ v: '2' })).toBe('permerror');
    expect(await refused({ bh: null })).toBe('permerror');
    expect(await refused({ c: 'relaxed/none' })).toBe('permerror');
    expect(await refused({ q: 'http/get' })).toBe('permerror');
    expect(await refused({ z: 'x; d=evil.example' })).toBe('permerror');
    expect(await refused({ s: 'a b' })).toBe('permerror');
  });

  it('is not over the sender, or made for somebody of another domain', async () => {
    expect(await refused({}, 'to:subject:date')).toBe('permerror');
    expect(await refused({ h: null })).toBe('permerror');
    expect(await refused({ i: 'boss@bank.example' })).toBe('permerror');
    expect(await refused({ i: 'boss@notshop.example' })).toBe('permerror');
    const below = signed(mailOf(), { ...shop(), tags: { i: '@news.shop.example' } });
    expect(await check(below)).toEqual(VERIFIED);
  });

  it('has expired', async () => {
    expect(await refused({ x: String(NOW / 1000 - 1) })).toBe('permerror');
    expect(await refused({ x: 'never' })).toBe('permerror');
    const fresh = signed(mailOf(), { ...shop(), tags: { x: String(NOW / 1000) } });
    expect(await check(fresh)).toEqual(VERIFIED);
  });

  it('is by a key that is weak, gone, for tests or for something else', async () => {
    const byKey = async (record: string) => {
      publish('s1._domainkey.shop.example', record);
      records = new TxtRecords([dns.address]);
      return refused({});
    };
    expect(await byKey('v=DKIM1; p=')).toBe('neutral');
    expect(await byKey(`${key.record}; t=y`)).toBe('policy');
    expect(await byKey(`${key.record}; s=tlsrpt`)).toBe('permerror');
    expect(await byKey(`${key.record}; h=sha1`)).toBe('permerror');
    expect(await byKey(otherKey.record)).toBe('fail');
    dns.records.delete('s1._domainkey.shop.example');
    records = new TxtRecords([dns.address]);
    expect(await refused({})).toBe('neutral');

    const weak = rsaKey(768);
    publish('s1._domainkey.shop.example', weak.record);
    records = new TxtRecords([dns.address]);
    const mail = signed(mailOf(), { domain: 'shop.example', key: weak });
    expect(await check(mail)).toMatchObject({ verified: false, dkim: 'policy' });
  });

  it('is by a key that serves its own domain only', async () => {
    publish('s1._domainkey.shop.example', `${key.record}; t=s`);
    expect(await check(signed(mailOf(), shop()))).toEqual(VERIFIED);
    expect(await refused({ i: '@news.shop.example' })).toBe('permerror');
  });

  it('is on a mail that others may read in another way', async () => {
    const mail = signed(mailOf(), shop());
    for (const doubtful of [
      // A second subject, type or addressee that is shown, while the first from below is signed.
      `Subject: Pay at once\r\n${mail}`,
      `Content-Type: text/html\r\nContent-Type: text/plain\r\n${mail}`,
      `To: you@inbox.example\r\n${mail}`,
      // A line that ends the header for some, so that what follows would be the body.
      mail.replace('\r\n\r\n', '\r\n\r\r\nPay at once.\r\n\r\n'),
      mail.replace('\r\n\r\n', '\r\nX-Note: a\rPay at once.\r\n\r\n'),
      mail.replace('\r\n\r\n', '\r\nX-Note: a\0b\r\n\r\n'),
    ]) {
      expect(await check(doubtful)).toMatchObject({ verified: false, dkim: 'policy' });
    }
    const headless = await check(`\r\n${mail}`);
    expect(headless).toMatchObject({ verified: false, dkim: 'policy', from_domain: null });
  });

  it('is one of too many', async () => {
    let mail = signed(mailOf(), shop());
    for (let count = 0; count < 8; count += 1) {
      const noise = `DKIM-Signature: v=1; a=rsa-sha256; d=d${count}.example; s=s; h=from; bh=YQ==; b=YQ==`;
      mail = `${noise}\r\n${mail}`;
    }
    expect(await check(mail)).toMatchObject({ verified: false, dkim: 'neutral' });
    expect(dns.asked).toEqual(['_dmarc.shop.example']);
  });

  it('hides its limits from a reader that knows quotes', async () => {
    const tags = { b: null, l: '11' };
    const mail = signed(mailOf(), { ...shop(), tags, bodyBytes: 11 });
    const hidden = mail.replace('l=11; b=', 'b="; l=11; z="');
    expect(await check(hidden)).toMatchObject({ verified: false, dkim: 'policy' });
  });
});

describe('the DNS', () => {
  it('is asked once for many mails', async () => {
    const mails = Array.from({ length: 20 }, (_, index) =>
      signed(mailOf({ Subject: `Invoice ${index}` }), shop()),
    );
    const checked = await Promise.all(mails.map((mail) => check(mail)));
    expect(checked.every(({ verified }) => verified)).toBe(true);
    expect(dns.asked).toHaveLength(2);
  });

  it('may fail, which says nothing of the mail', async () => {
    dns.mood = 'failing';
    expect(await check(signed(mailOf(), shop()))).toMatchObject({
      verified: false,
      dkim: 'temperror',
      dmarc: 'temperror',
    });
  });

  it('may be silent', async () => {
    dns.mood = 'silent';
    records = new TxtRecords([dns.address], { tryMs: 60_000, mailMs: 300 });
    expect(await check(signed(mailOf(), shop()))).toMatchObject({
      verified: false,
      dkim: 'temperror',
      dmarc: 'temperror',
    });
  });

  it('may not give the key of the one signature that would count', async () => {
    // The policy is known from another mail when the server goes silent.
    await check(mailOf());
    dns.mood = 'failing';
    expect(await check(signed(mailOf(), shop()))).toMatchObject({
      verified: false,
      dkim: 'temperror',
      dmarc: 'temperror',
    });
  });
});

const RFC_8463_RSA =
  'MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDkHlOQoBTzWRiGs5V6NpP3idY6Wk08a5qhdR6wy5bdOKb2jLQiY/J16JYi0Qvx/byYzCNb3W91y3FutACDfzwQ/BC/e/8uBsCR+yz1Lxj+PL6lHvqMKrM3rG4hstT5QjvHO9PzoxZyVYLzBfO2EeC3Ip3G+2kryOTIKT+l/K4w3QIDAQAB';

/** Appendix A.3. */
const RFC_8463 = [
  'DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/relaxed;',
  ' d=football.example.com; i=@football.example.com;',
  ' q=dns/txt; s=brisbane; t=1528637909; h=from : to :',
  ' subject : date : message-id : from : subject : date;',
  ' bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;',
  ' b=/gCrinpcQOoIfuHNQIbq4pgh9kyIK3AQUdt9OdqQehSwhEIug4D11Bus',
  ' Fa3bT3FY5OsU7ZbnKELq+eXdp1Q1Dw==',
  'DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed;',
  ' d=football.example.com; i=@football.example.com;',
  ' q=dns/txt; s=test; t=1528637909; h=from : to : subject :',
  ' date : message-id : from : subject : date;',
  ' bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;',
  ' b=F45dVWDfMbQDGHJFlXUNB2HKfbCeLRyhDXgFpEL8GwpsRe0IeIixNTe3',
  ' DhCVlUrSjV4BwcVcOF6+FF3Zo9Rpo1tFOeS9mPYQTnGdaSGsgeefOsk2Jz',
  ' dA+L10TeYt9BgDfQNZtKdN1WO//KgIqXP7OdEFE4LjFYNcUxZQ4FADY+8=',
  'From: Joe SixPack <joe@football.example.com>',
  'To: Suzie Q <suzie@shopping.example.net>',
  'Subject: Is dinner ready?',
  'Date: Fri, 11 Jul 2003 21:00:37 -0700 (PDT)',
  'Message-ID: <20030712040037.46341.5F8J@football.example.com>',
  '',
  'Hi.',
  '',
  'We lost the game.  Are you hungry yet?',
  '',
  'Joe.',
  '',
].join('\r\n');
