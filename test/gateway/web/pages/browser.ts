import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { readPage } from '../../../helpers/reading.ts';
import { required } from '../../../helpers/require.ts';

const CHROMIUM = process.env['SVC_TEST_CHROMIUM'] ?? '/usr/bin/chromium';
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Whether there is a Chromium to look at pages with; says so when there is none. */
export function hasChromium(): boolean {
  const present = statSync(CHROMIUM, { throwIfNoEntry: false }) !== undefined;
  return required('pages in a browser', present, `${CHROMIUM} is not installed`);
}

export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
}

/** A way to look at a page. */
export interface Look {
  readonly size: 'phone' | 'desktop';
  readonly scheme: 'light' | 'dark';
  readonly scripts: boolean;
}

const SIZES = {
  phone: { width: 360, height: 740 },
  desktop: { width: 1280, height: 800 },
} as const;

export const LOOKS: readonly Look[] = (['phone', 'desktop'] as const).flatMap((size) =>
  (['light', 'dark'] as const).flatMap((scheme) =>
    [true, false].map((scripts) => ({ size, scheme, scripts })),
  ),
);

/** A tab of its own, with all that it complained of and all that it asked for. */
export class Tab {
  readonly page: Page;
  readonly complaints: string[] = [];
  readonly asked: string[] = [];
  readonly #context: BrowserContext;

  private constructor(context: BrowserContext, page: Page) {
    this.#context = context;
    this.page = page;
    page.on('console', (message) => this.complaints.push(message.text()));
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('request', (request) => this.asked.push(request.url()));
  }

  static async open(browser: Browser, look: Partial<Look> = {}): Promise<Tab> {
    const { size = 'phone', scheme = 'light', scripts = true } = look;
    const context = await browser.newContext({
      viewport: SIZES[size],
      colorScheme: scheme,
      javaScriptEnabled: scripts,
      hasTouch: size === 'phone',
    });
    context.on('page', (page) => void readFirst(page, scripts));
    return new Tab(context, await context.newPage());
  }

  /**
   * What axe finds against WCAG 2.2 AA and good practice, or against one rule, each with the element it is about.
   */
  async violations(rule?: string): Promise<string[]> {
    if (!(await this.page.evaluate<boolean>('"axe" in window'))) await this.page.evaluate(AXE);
    const options = rule === undefined ? {} : { runOnly: [rule] };
    return this.page.evaluate<string[]>(`(${RUN_AXE})(${JSON.stringify(options)})`);
  }

  /** What can be tapped and is lower or narrower than a finger, 44 px. */
  smallTargets(): Promise<string[]> {
    return this.page.evaluate<string[]>(SMALL_TARGETS);
  }

  /** True where something sticks out and the page would have to be pushed sideways. */
  isTooWide(): Promise<boolean> {
    return this.page.evaluate<boolean>(TOO_WIDE);
  }

  /** The middle of each character of an element, in the order of the text. */
  placesIn(selector: string): Promise<{ readonly x: number; readonly y: number }[]> {
    return this.page.evaluate(`(${PLACES})(${JSON.stringify(selector)})`);
  }

  /** The words of what has the keyboard, and the line around it. */
  focused(): Promise<{ readonly words: string; readonly outline: string }> {
    return this.page.evaluate(FOCUSED);
  }

  /** How long things take to move, as far as any do. */
  movements(): Promise<string[]> {
    return this.page.evaluate<string[]>(MOVEMENTS);
  }

  close(): Promise<void> {
    return this.#context.close();
  }
}

/** A page of ours with buttons that still wait for their reader. */
const UNREAD =
  'html:not([data-ready]):has(head > style + script, script[src*="/ui/script.js"]):has(form[method=post], a[data-hold])';

/** People read a page before they press anything on it. */
async function readFirst(page: Page, scripts: boolean): Promise<void> {
  const read = async (): Promise<void> => {
    await readPage(page.url());
    if (scripts) await page.locator('html[data-ready]').waitFor({ state: 'attached' });
  };
  await page.addLocatorHandler(page.locator(UNREAD), read, { noWaitAfter: true });
}

// These run in the page. They are texts, as the types of a browser are not those of a server.
const RUN_AXE = `(options) => axe.run(options).then(({ violations }) =>
  violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`;
const SMALL_TARGETS = `[...document.querySelectorAll('button, a, summary, textarea')]
  .filter((one) => {
    const { width, height } = one.getBoundingClientRect();
    return width > 0 && (height < 44 || width < 44);
  })
  .map((one) => one.outerHTML)`;
const TOO_WIDE = `document.documentElement.scrollWidth > document.documentElement.clientWidth`;
const PLACES = `(selector) => {
  const walker = document.createTreeWalker(document.querySelector(selector), NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  const places = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    for (let at = 0; at < node.length; at += 1) {
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      const { left, right, top, bottom } = range.getBoundingClientRect();
      places.push({ x: (left + right) / 2, y: (top + bottom) / 2 });
    }
  }
  return places;
}`;
const FOCUSED = `(() => {
  const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
  return { words: document.activeElement.textContent, outline: outlineStyle + ' ' + outlineWidth };
})()`;
const MOVEMENTS = `[...document.querySelectorAll('*')]
  .map((one) => getComputedStyle(one).transitionDuration)
  .filter((time) => time !== '0s')`;
