import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ThreadMailReader } from '../../../../../gateway/mail/inbound/reader/thread-reader.ts';
import { DnsServer } from '../../../../helpers/dns-server.ts';
import { mailOf, NOW, rsaKey, signed } from './signed-mail.ts';

let dns: DnsServer;
let open: ThreadMailReader[];
beforeEach(async () => {
  dns = await DnsServer.start();
  open = [];
});
afterEach(async () => {
  await Promise.all(open.map((reader) => reader.close()));
  await dns.stop();
});

type Options = Omit<ConstructorParameters<typeof ThreadMailReader>[0], 'dnsServers'>;

function newReader(options: Options = {}): ThreadMailReader {
  const one = new ThreadMailReader({ dnsServers: [dns.address], ...options });
  open.push(one);
  return one;
}

function read(by: ThreadMailReader, mail: string | Buffer, whole = true) {
  const raw = Buffer.from(mail);
  return by.read(raw, { now: NOW, whole, sizeBytes: raw.length });
}

/** A thread that does what the mail tells it, but for its header, unless that tells it as well. */
const OBEDIENT = entryOf(`
  import { parentPort } from 'node:worker_threads';
  parentPort.on('message', ({ id, bytes, headerOnly }) => {
    const text = Buffer.from(bytes).toString();
    const told = (act) => text.includes(act) && (!headerOnly || text.includes('ALWAYS'));
    if (told('HANG')) for (;;);
    if (told('EXIT')) process.exit(3);
    if (told('EXHAUST')) for (const all = []; ; ) all.push(new Array(1_000_000).fill(1.5));
    if (told('FAIL')) parentPort.postMessage({ kind: 'failed', id });
    else parentPort.postMessage({ kind: 'read', id, mail: { text, headerOnly } });
  });
  parentPort.postMessage({ kind: 'ready' });
`);
const BROKEN = entryOf(`throw new Error('It cannot start.');`);

function entryOf(source: string): URL {
  return new URL(`data:text/javascript,${encodeURIComponent(source)}`);
}

const part = (head: string, body: string): string => `--b\r\n${head}\r\n\r\n${body}\r\n`;

describe('a reader of mails', () => {
  it('reads a signed mail in its thread, and leaves the bytes as they are', async () => {
    const key = rsaKey();
    dns.records.set('s1._domainkey.shop.example', [key.record]);
    dns.records.set('_dmarc.shop.example', ['v=DMARC1; p=reject']);
    const raw = Buffer.from(signed(mailOf(), { domain: 'shop.example', key }));
    const before = Buffer.from(raw);
    const mail = await newReader().read(raw, { now: NOW, whole: true, sizeBytes: raw.length });
    expect(mail).toMatchObject({
      verified: true,
      digest: createHash('sha256').update(before).digest('hex'),
      size_bytes: before.length,
      payload: { subject: 'Invoice 42', text: 'The invoice is attached.\n' },
    });
    expect(raw.equals(before)).toBe(true);
  });

  it.each([
    ['UTF-8', Buffer.from('naïve café 5 €', 'utf8')],
    ['another charset', Buffer.from('na\xefve caf\xe9 5 \x80', 'latin1')],
  ])('reads %s that is declared as us-ascii', async (_what, text) => {
    const fields = {
      From: null,
      Subject: '=?us-ascii?q?caf=C3=A9?=',
      'Content-Type': 'text/plain; charset="US-ASCII"',
      'Content-Transfer-Encoding': '8bit',
    };
    const mail = Buffer.concat([Buffer.from(mailOf(fields, '')), text]);
    const { payload } = await read(newReader(), mail);
    expect(payload).toMatchObject({ subject: 'café', text: 'naïve café 5 €\n' });
  });

  it('reads what Windows adds to Latin-1', async () => {
    const fields = { From: null, 'Content-Type': 'text/plain; charset=windows-1252' };
    const raw = Buffer.from(mailOf(fields, '\x93100 \x80\x94 \x96 caf\xe9'), 'latin1');
    expect((await read(newReader(), raw)).payload.text).toBe('“100 €” – café\n');
  });

  it('reads HTML and a file whose name say us-ascii and are UTF-8', async () => {
    const html = 'Content-Type: text/html; charset=ascii\r\nContent-Transfer-Encoding: base64';
    const file = "Content-Disposition: attachment; filename*=us-ascii''caf%C3%A9.txt";
    const parts = [part(html, Buffer.from('<p>café</p>').toString('base64')), part(file, 'x')];
    const type = { From: null, 'Content-Type': 'multipart/mixed; boundary=b' };
    const mail = await read(newReader(), mailOf(type, `${parts.join('')}--b--\r\n`));
    expect(mail.payload.text).toBe('café');
    expect(mail.files.map(({ name }) => name)).toEqual(['café.txt']);
  });

  it('reads as many as it is given', async () => {
    const one = newReader();
    const subjects = Array.from({ length: 50 }, (_, index) => `number ${index}`);
    const mails = await Promise.all(
      subjects.map((Subject) => read(one, mailOf({ Subject, From: 'nobody' }))),
    );
    expect(mails.map(({ payload }) => payload.subject)).toEqual(subjects);
  });

  it('hands over files whose bytes are those that were sent', async () => {
    const fields = { 'Content-Type': 'application/pdf; name=a.pdf', From: null };
    const mail = await read(newReader(), mailOf(fields, 'the bytes'));
    const [file] = mail.files;
    expect(Buffer.from(file?.bytes ?? []).toString()).toBe('the bytes\n');
    expect(file?.bytes).toBeInstanceOf(Uint8Array);
  });

  it('sleeps until there is a mail, and goes to sleep again', async () => {
    const one = newReader({ entry: OBEDIENT, idleMs: 20 });
    expect(one.isAwake).toBe(false);
    const mail = read(one, 'a');
    expect(one.isAwake).toBe(true);
    await mail;
    await until(() => !one.isAwake);
    await expect(read(one, 'b')).resolves.toMatchObject({ text: 'b' });
  });
});

describe('a mail that ends the thread', () => {
  it.each(['HANG', 'EXIT', 'EXHAUST', 'FAIL'])('by %s is read by its header', async (act) => {
    const one = newReader({ entry: OBEDIENT, readTimeoutMs: act === 'HANG' ? 8000 : 100_000 });
    await expect(read(one, act)).resolves.toEqual({ text: act, headerOnly: true });
    await expect(read(one, 'next')).resolves.toEqual({ text: 'next', headerOnly: false });
  });

  it('costs the mail beside it nothing', async () => {
    const one = newReader({ entry: OBEDIENT, readTimeoutMs: 8000 });
    const mails = await Promise.all(['HANG', 'a', 'EXIT', 'b'].map((mail) => read(one, mail)));
    expect(mails).toEqual([
      { text: 'HANG', headerOnly: true },
      { text: 'a', headerOnly: false },
      { text: 'EXIT', headerOnly: true },
      { text: 'b', headerOnly: false },
    ]);
  });

  it('by its header as well is kept as it is', async () => {
    const one = newReader({ entry: OBEDIENT });
    const raw = Buffer.from('EXIT ALWAYS');
    const digest = createHash('sha256').update(raw).digest('hex');
    const mail = await read(one, raw);
    expect(mail).toMatchObject({
      digest,
      verified: false,
      payload: {
        incomplete: 'malformed',
        from: null,
        authentication: { dkim: 'temperror', dmarc: 'temperror' },
      },
      files: [{ name: 'message.eml', content_type: 'message/rfc822', sha256: digest }],
    });
    expect(Buffer.from(mail.files[0]?.bytes ?? [])).toEqual(raw);

    await expect(read(one, raw, false)).resolves.toMatchObject({
      payload: { incomplete: 'too_large' },
      files: [],
      blocked: [{ name: 'message.eml', reason: 'too_large', size_bytes: raw.length }],
    });
  });
});

describe('a reader that cannot read', () => {
  it('says so when its thread does not start, and blames no mail', async () => {
    const one = newReader({ entry: BROKEN });
    await expect(read(one, 'a')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(Promise.all([read(one, 'a'), read(one, 'b')])).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
  });

  it('refuses what waits when it is closed, and what comes after', async () => {
    const one = newReader({ entry: OBEDIENT });
    const waiting = ['HANG', 'a', 'b'].map((mail) => read(one, mail));
    const refused = Promise.allSettled(waiting);
    await sleep(50);
    await one.close();
    for (const result of await refused) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'UNAVAILABLE' } });
    }
    await expect(read(one, 'c')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(one.isAwake).toBe(false);
  });
});

async function until(met: () => boolean): Promise<void> {
  while (!met()) await sleep(5);
}
