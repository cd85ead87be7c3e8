import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../shared/lib/clock.ts';
import { TestPeople } from '../gateway/approvals/people.ts';
import { parsedMail } from '../gateway/mail/parsed-mail.ts';
import { TestGateway } from '../helpers/gateway.ts';
import { mailsOf } from '../helpers/outbox.ts';
import { visit } from '../helpers/page-visitor.ts';

let gateway: TestGateway;
let people: TestPeople;
beforeAll(async () => {
  gateway = await TestGateway.start();
  people = await TestPeople.of(gateway, systemClock());
});
afterAll(() => gateway.stop());

/** Every URL in the mails so far. */
function addresses(): string[] {
  const found = mailsOf(gateway.folder).flatMap(
    (mail) => parsedMail(mail).text.match(/https?:\/\/[^\s"'<>)]+/g) ?? [],
  );
  return [...new Set(found)].filter((url) => url.startsWith(gateway.url));
}

/** Like a mail scanner: opens every link, follows the links on each page, and never sends a form. */
async function scan(urls: readonly string[]): Promise<void> {
  for (const url of urls) {
    for (const method of ['HEAD', 'GET', 'OPTIONS']) {
      for (const more of ['', '?verb=approve&confirm=yes']) {
        const response = await fetch(url + more, { method });
        const html = await response.text();
        for (const [, link = ''] of html.matchAll(/(?:href|src|action)="([^"]+)"/g)) {
          await (await fetch(new URL(link, url))).text();
        }
      }
    }
  }
}

describe('a scanner that opens every link of every mail', () => {
  it('decides nothing by looking, however often, and a person still can', async () => {
    const risky = await people.asked({ risk: 'high', details: 'All of it.' });
    const plain = await people.asked();
    const token = await people.link(plain);
    await people.link(risky);
    await people.addChannel('ana@example.com');
    const confirm = await people.confirmLink();
    const urls = addresses();
    expect(urls).toEqual(
      expect.arrayContaining([`${gateway.url}/a/${token}`, `${gateway.url}/c/${confirm}`]),
    );
    for (let round = 0; round < 10; round += 1) await scan(urls);
    expect((await people.status(plain)).status).toBe('pending');
    expect((await people.status(risky)).status).toBe('pending');
    const added = (await people.channels()).find(({ owner }) => !owner);
    expect(added?.status).toBe('added');
    expect(await people.ledger('request.decided')).toEqual([]);
    await visit(`${gateway.url}/a/${token}`, { button: 'Approve' });
    expect(await people.status(plain)).toMatchObject({ status: 'approved' });
  });
});
