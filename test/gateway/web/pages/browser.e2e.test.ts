import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RequestView } from '../../../../gateway/approvals/approvals.ts';
import { FakeClock } from '../../../helpers/gateway.ts';
import { hasChromium, LOOKS, openBrowser, Tab, type Look } from './browser.ts';
import { aRequest, MemoryApprovals } from './memory-approvals.ts';
import { PagesServer } from './pages-server.ts';

const clock = new FakeClock(Date.UTC(2026, 0, 2, 11, 30));
const approvals = new MemoryApprovals(clock);
let server: PagesServer;
let browser: Browser;
let asked = 0;

/** A new request and the path of its link. */
function ask(change: Partial<RequestView> = {}): string {
  asked += 1;
  const token = `token${asked}`;
  approvals.ask(aRequest(clock.now(), { id: `req_${asked}`, ...change }), { [token]: 'owner' });
  return `/a/${token}`;
}

function last(): unknown {
  return approvals.taken.at(-1);
}

/** Resolves when the page has this heading: a click may be over before the page that it leads to is there. */
function headed(page: Page, words: string): Promise<void> {
  const heading = () => page.getByRole('heading', { level: 1 }).textContent();
  return expect.poll(heading).toBe(words);
}

const HOSTILE: Partial<RequestView> = {
  action: 'refund.\u0441reate\u202e',
  summary: 'Refund \u202e129\u202c to p\u0430ypal\u200b <a href="https://evil.example">here</a>',
  agent: { label: '</figcaption><h1>svc</h1>', platform: 'custom' },
  details: `</div><script>document.title='owned'</script>\nhttps://evil.example +49 30 1234567\n${'W'.repeat(3000)}`,
  options: ['Deny', 'W'.repeat(40), '\u202eevorppA', '<b>', 'e\u0335\u0335\u0335\u0335\u0335'],
};

const PAGES: Readonly<Record<string, () => string>> = {
  approval: () =>
    ask({ details: 'Charged at 11:02 and 11:03.', options: ['Half', 'Store credit'] }),
  'high risk': () => ask({ risk: 'high', details: 'Line.\n'.repeat(80) }),
  question: () =>
    ask({ kind: 'question', action: null, amount: null, risk: null, options: ['Dublin'] }),
  policy: () =>
    ask({ kind: 'policy', note: 'Note.', warnings: ['Shadowed.'], diff: ['  a', '- b', '+ c'] }),
  email: () => ask({ kind: 'email_send', details: 'To: jane@example.com\nSubject: Hello' }),
  'new approver': () => ask({ kind: 'channel' }),
  'bound values': () =>
    ask({
      bound: {
        rows: [
          ['number', '12'],
          ['sha', 'a'.repeat(64)],
          ['a.very.long.name.of.a.value', '"12"'],
          ['p\u0430ypal', '\u202e129'],
        ],
      },
      event: {
        id: 'evt_01j9z3k4m5n6p7q8r9s0t1v2w3',
        source: 'github',
        type: 'pull_request.opened',
      },
    }),
  'bound JSON': () =>
    ask({
      bound: { json: `{\n  "to": [\n    "${'w'.repeat(300)}"\n  ]\n}` },
    }),
  withdrawn: () =>
    ask({ status: 'expired', decidedAt: clock.now(), withdrawn: 'a newer version is ready.' }),
  'too late for the agent': () =>
    ask({
      status: 'denied',
      decidedBy: 'owner',
      decidedAt: clock.now(),
      unused: 'the prompt was answered or closed on the screen.',
    }),
  done: () =>
    ask({
      status: 'approved',
      decidedBy: 'owner',
      decidedAt: clock.now(),
      bound: { rows: [['sha', '3f2a']] },
      outcome: { kind: 'done', at: clock.now(), words: 'W'.repeat(200) },
    }),
  'not taken up': () =>
    ask({
      status: 'approved',
      decidedBy: 'owner',
      decidedAt: clock.now(),
      outcome: { kind: 'idle', tried: false },
    }),
  hostile: () => ask(HOSTILE),
  approved: () =>
    ask({ status: 'approved', decidedBy: 'owner', decidedAt: clock.now(), comment: 'Fine.' }),
  'too late': () =>
    `${ask({ status: 'denied', decidedBy: 'ops', decidedAt: clock.now() })}?late=approve`,
  expired: () => ask({ status: 'expired' }),
  address: () => {
    const channel = {
      label: 'ops',
      project: { name: 'Acme', slug: 'acme' },
      address: 'o***@a.example',
    };
    approvals.addChannel('address', { ...channel, status: 'added' });
    return '/c/address';
  },
};

describe.skipIf(!hasChromium())('in a browser', () => {
  beforeAll(async () => {
    server = await PagesServer.start(approvals);
    browser = await openBrowser();
  });

  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  beforeEach(() => {
    approvals.taken.length = 0;
  });

  const named = LOOKS.map(
    (look) =>
      [`${look.size}, ${look.scheme}, scripts ${look.scripts ? 'on' : 'off'}`, look] as const,
  );

  it.each(named)('a person decides: %s', async (_name, look: Look) => {
    const tab = await Tab.open(browser, look);
    const { page } = tab;
    const open = (path: string) => page.goto(server.url + path);
    const button = (name: string | RegExp) => page.getByRole('button', { name }).click();
    const shows = (heading: string) => headed(page, heading);

    await open(ask());
    await button('Approve');
    await shows('Approved');
    expect(last()).toEqual({ verb: 'approve' });

    await open(ask());
    await page.getByText('Add a comment').click();
    await page.getByLabel('The agent reads it.').fill('Not before Monday.\nAsk Jane.');
    await button('Deny');
    await shows('Denied');
    expect(last()).toEqual({ verb: 'deny', comment: 'Not before Monday.\nAsk Jane.' });

    await open(ask({ options: ['Half', 'Store credit'] }));
    await button('Approve, but only: Store credit');
    await shows('Approved with a change');
    expect(last()).toEqual({ verb: 'option', index: 1 });

    await open(ask());
    await page.getByText('Ask for more context').first().click();
    await button('Ask for more context');
    // The browser itself asks for the words that are missing.
    expect(last()).toEqual({ verb: 'option', index: 1 });
    await page.getByLabel('What is missing?').fill('Which customer?');
    await button('Ask for more context');
    await shows('More context requested');
    expect(last()).toEqual({ verb: 'needs_context', comment: 'Which customer?' });

    await open(
      ask({ kind: 'question', action: null, risk: null, amount: null, options: ['Dublin'] }),
    );
    await button('Answer: Dublin');
    await shows('Answered');
    expect(last()).toEqual({ verb: 'option', index: 0 });

    await open(ask({ kind: 'question', action: null, risk: null, amount: null }));
    await page.getByLabel('In your own words').fill('Wait for Monday.');
    await button('Send this answer');
    await shows('Answered');
    expect(last()).toEqual({ verb: 'answer', text: 'Wait for Monday.' });

    await open(ask({ risk: 'high', action: 'database.drop' }));
    await button(/^Approve/);
    await shows('Approve this high-risk action?');
    await page.getByRole('link', { name: 'Cancel' }).click();
    await shows('Approve this action?');
    await button(/^Approve/);
    expect(approvals.taken).toHaveLength(6);
    await button('Yes, approve database.drop');
    await shows('Approved');
    expect(approvals.taken).toHaveLength(7);
    await page.reload();
    await page.goBack();
    expect(approvals.taken).toHaveLength(7);

    expect(tab.complaints).toEqual([]);
    expect(tab.asked.every((url) => url.startsWith(server.url))).toBe(true);
    await tab.close();
  });

  it.each(named.filter(([, look]) => look.scripts))(
    'nothing is in anybody’s way: %s',
    async (_name, look: Look) => {
      const tab = await Tab.open(browser, look);
      for (const [name, path] of Object.entries(PAGES)) {
        await tab.page.goto(server.url + path());
        for (const folded of await tab.page.locator('summary').all()) await folded.click();
        expect([name, await tab.violations()]).toEqual([name, []]);
        expect([name, await tab.smallTargets()]).toEqual([name, []]);
        expect([name, await tab.isTooWide()]).toEqual([name, false]);
        expect(await tab.page.title()).toMatch(/^.{5,40} · Acme/);
      }
      expect(tab.complaints).toEqual([]);
      await tab.close();
    },
  );

  it('a high risk is named on the second page as well as on the first', async () => {
    const tab = await Tab.open(browser);
    await tab.page.goto(server.url + ask({ ...HOSTILE, risk: 'high' }));
    await tab.page.getByRole('button', { name: /^Approve asks/ }).click();
    await headed(tab.page, 'Approve this high-risk action?');
    expect(await tab.violations()).toEqual([]);
    expect(await tab.smallTargets()).toEqual([]);
    expect(await tab.isTooWide()).toBe(false);
    expect(approvals.taken).toEqual([]);
    await tab.close();
  });

  it('an ordinary approval needs no scrolling on a telephone', async () => {
    const tab = await Tab.open(browser);
    await tab.page.goto(server.url + ask({ details: 'Charged at 11:02 and again at 11:03.' }));
    const box = await tab.page.getByRole('button', { name: 'Approve' }).boundingBox();
    expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThan(740);
    await tab.close();
  });

  it('what an agent writes becomes no element, and reads in the order it was written', async () => {
    const tab = await Tab.open(browser);
    const { page } = tab;
    await page.goto(server.url + ask(HOSTILE));
    expect(await page.locator('body :is(a, script, img, iframe)').count()).toBe(0);
    expect(await page.getByRole('heading', { level: 1 }).allTextContents()).toEqual([
      'Approve this action?',
    ]);
    expect(await page.title()).toBe('Approval · Acme Shop');
    const places = await tab.placesIn('.summary');
    expect(places.length).toBeGreaterThan(70);
    const backwards = places.filter(({ x, y }, index) => {
      const before = places[index - 1];
      return before !== undefined && (y < before.y - 12 || (y < before.y + 12 && x < before.x));
    });
    expect(backwards).toEqual([]);
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });

  it('can be used with a keyboard, and shows where it is', async () => {
    const tab = await Tab.open(browser, { size: 'desktop', scripts: true });
    const { page } = tab;
    await page.goto(server.url + ask());
    const reached: string[] = [];
    for (let step = 0; step < 4; step += 1) {
      await page.keyboard.press('Tab');
      const { words, outline } = await tab.focused();
      expect(outline).toBe('solid 3px');
      reached.push(words);
    }
    expect(reached).toEqual(['Add a comment', 'Deny', 'Approve', 'Ask for more context']);
    await page.keyboard.press('Shift+Tab');
    await page.locator(':focus').press('Enter');
    await page.getByRole('heading', { name: 'Approved' }).waitFor();
    expect(last()).toEqual({ verb: 'approve' });
    await tab.close();
  });

  it('moves nothing for those who want nothing to move', async () => {
    const tab = await Tab.open(browser);
    await tab.page.goto(server.url + ask());
    expect((await tab.movements()).length).toBeGreaterThan(0);
    await tab.page.emulateMedia({ reducedMotion: 'reduce' });
    expect(await tab.movements()).toEqual([]);
    await tab.close();
  });

  it('a page of somebody else can neither decide nor show it in a frame', async () => {
    const path = ask();
    const { csrf } = await server.get(path);
    const evil = createServer((_request, response) => {
      response.setHeader('Content-Type', 'text/html').end(
        `<iframe src="${server.url}${path}"></iframe>
         <form method="post" action="${server.url}${path}">
           <input name="csrf" value="${csrf}"><input name="verb" value="approve"><button>Win</button>
         </form>`,
      );
    });
    await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve));
    const { port } = evil.address() as AddressInfo;
    const tab = await Tab.open(browser);
    // By another name than the pages have: another site.
    await tab.page.goto(`http://localhost:${port}/`);
    const framed = tab.page.frames().map((frame) => frame.url());
    expect(framed).not.toContain(server.url + path);
    await tab.page.getByRole('button', { name: 'Win' }).click();
    await headed(tab.page, 'Not decided');
    expect(approvals.taken).toEqual([]);
    await tab.close();
    evil.closeAllConnections();
    await new Promise((resolve) => evil.close(resolve));
  });

  it('confirms an address, once', async () => {
    const tab = await Tab.open(browser, { scripts: false });
    const channel = {
      label: 'ops',
      project: { name: 'Acme', slug: 'acme' },
      address: 'o***@a.example',
    };
    approvals.addChannel('confirm', { ...channel, status: 'added' });
    await tab.page.goto(`${server.url}/c/confirm`);
    await tab.page.getByRole('button', { name: 'Confirm this address' }).click();
    await headed(tab.page, 'Address confirmed');
    expect((await approvals.openChannel('confirm'))?.status).toBe('verified');
    await tab.close();
  });

  it('nothing of all this failed inside', () => {
    expect(server.failures).toEqual([]);
  });
});
