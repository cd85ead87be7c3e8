import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WebInbox } from '../../../../gateway/web/inbox/inbox.ts';
import { UI_PAGES } from '../../../../gateway/web/inbox/pages.ts';
import { uiRoutes } from '../../../../gateway/web/inbox/routes.tsx';
import { FakeClock, type TestGateway } from '../../../helpers/gateway.ts';
import { linkToken, tokensOf } from '../../../helpers/outbox.ts';
import { ANA, RawApp } from '../../auth/oauth/app.ts';
import { Person } from '../../auth/sign-in/person.ts';
import { Team } from '../../members/team.ts';
import { hasChromium, openBrowser, type Look, type Tab } from '../pages/browser.ts';
import { FullProject } from './full/project.ts';
import { walk } from './full/walk.ts';
import { openAs } from './visitor-tab.ts';
import { WebVisitor } from './web-visitor.ts';

/** What a page and all that it loads may weigh. */
const PAGE_MAX_BYTES = 300_000;
/** Nothing weighs as little as this with its style and script. */
const PAGE_MIN_BYTES = 20_000;
const VIEWPORTS = {
  desktop: { width: 1280, height: 800 },
  phone: { width: 390, height: 844 },
} as const;
const SCHEMES = ['light', 'dark'] as const;
/** A picture of each page goes here, and how much each weighs. */
const PICTURES = process.env['SVC_PICTURES'];
const HOUR_MS = 3_600_000;
/** Some minutes where other programs run as well. */
const WALK = { timeout: 600_000 };

/** These load with other pages, or lead on to them at once. */
const NO_PAGES = new Set([
  '/ui',
  '/ui/icon.png',
  '/ui/live',
  '/ui/manifest.webmanifest',
  '/ui/open/:token',
  '/ui/p/:slug',
  '/ui/push.js',
  '/ui/script.js',
  '/ui/style.css',
]);
/** Their pages show everything there is. */
const NO_ITEMS = ['overview', 'settings', 'browsers', 'sessions', 'usage'];

/** Of a full project: those whose form others have, with less to see. */
const FULL_PLACES = [
  'overview?span=week',
  'disk?prefix=customers%2F',
  'disk?key=customers%2Fcus_QZ81%2Fpreferences',
  'disk/states?task=support%2F20418',
  'disk/files?path=support%2F20418%2Fshelf.png',
];

interface Visit {
  readonly gateway: TestGateway;
  readonly visitor: WebVisitor;
  readonly paths: readonly string[];
  /** Names the folder of the pictures. */
  readonly name: string;
}

const visited = new Set<string>();
const weights: (readonly [bytes: number, path: string])[] = [];

/** Everything wrong with these pages, on a phone and on a desktop at the same time. */
async function wrongWith(browser: Browser, visit: Visit): Promise<unknown[]> {
  for (const path of visit.paths) visited.add(new URL(path, visit.gateway.url).pathname);
  const sizes = Object.keys(VIEWPORTS) as Look['size'][];
  return (await Promise.all(sizes.map((size) => wrongAt(browser, visit, size)))).flat();
}

async function wrongAt(browser: Browser, visit: Visit, size: Look['size']): Promise<unknown[]> {
  const { gateway, visitor, paths } = visit;
  const tab = await openAs(browser, gateway, visitor, { size });
  await tab.page.setViewportSize(VIEWPORTS[size]);
  // A button that is still changing its color has any contrast.
  await tab.page.emulateMedia({ reducedMotion: 'reduce' });
  const loaded = await weigher(tab);
  const wrong: unknown[] = [];
  for (const [index, path] of paths.entries()) {
    const before = tab.complaints.length;
    const bytes = await loaded(() => tab.page.goto(gateway.url + path));
    weights.push([bytes, path]);
    await takePictures(tab, visit, { index, size });
    const looked = await lookAt(tab, size);
    const complaints = tab.complaints.slice(before).filter((text) => !text.startsWith('[DOM]'));
    if (bytes > PAGE_MAX_BYTES || looked.length + complaints.length > 0) {
      wrong.push({ path, size, bytes, looked, complaints });
    }
  }
  await tab.close();
  return wrong;
}

/** Counts what comes over the network while a page loads, with an empty cache. */
async function weigher({ page }: Tab): Promise<(load: () => Promise<unknown>) => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  let bytes = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
  return async (load) => {
    bytes = 0;
    await load();
    return bytes;
  };
}

/** In light and in dark colors, with all of it open. Only contrasts depend on the colors. */
async function lookAt(tab: Tab, size: Look['size']): Promise<string[]> {
  await tab.page.evaluate(OPEN_ALL);
  await tab.page.emulateMedia({ colorScheme: 'light' });
  const found = await tab.violations();
  await tab.page.emulateMedia({ colorScheme: 'dark' });
  found.push(...(await tab.violations('color-contrast')).map((one) => `dark: ${one}`));
  if (await tab.isTooWide()) found.push('It is too wide.');
  if (size === 'phone') found.push(...(await tab.smallTargets()).map((one) => `small: ${one}`));
  return found;
}

const OPEN_ALL = `document.querySelectorAll('main details').forEach((one) => (one.open = true))`;

async function takePictures(
  { page }: Tab,
  { name, paths }: Visit,
  { index, size }: { readonly index: number; readonly size: string },
): Promise<void> {
  if (PICTURES === undefined) return;
  const place = (paths[index] ?? '').replace(/^\/ui\/(?:p\/[^/]+\/)?/, '');
  const file = `${String(index).padStart(3, '0')}-${place.replaceAll(/[^a-z0-9]+/gi, '-')}`;
  for (const colorScheme of SCHEMES) {
    const folder = join(PICTURES, `${name}-${size}-${colorScheme}`);
    mkdirSync(folder, { recursive: true });
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(folder, `${file.slice(0, 80)}.png`), fullPage: true });
  }
}

/** The first page of each kind, and every other one that links lead to. */
function allPages(
  visitor: WebVisitor,
  base: string,
  { more = [], without = [] }: { more?: readonly string[]; without?: readonly string[] },
): Promise<string[]> {
  const pages = UI_PAGES.map(({ path }) => path).filter((path) => !without.includes(path));
  return walk(
    visitor,
    base,
    [...pages, ...more].map((path) => base + path),
  );
}

describe.skipIf(!hasChromium())('every page of the web inbox', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());

  it('is light, accessible and fits, in a project that is used', WALK, async () => {
    const full = await FullProject.filled();
    const { gateway, owner: visitor, states } = full;
    const project = await gateway.gateway.projects.find(gateway.projectId);
    const base = `/ui/p/${project?.info.slug}/`;
    const list = async (path: string, name: string): Promise<string[]> => {
      const { body } = await gateway.call<{ items: Record<string, string>[] }>('GET', path);
      return body.items.map((item) => item[name] ?? '');
    };
    const requests = await list('/v1/requests?limit=50', 'request_id');
    const routes = await list('/v1/routes', 'id');
    const more = [
      ...Object.values(states).map((id) => `events/${id}`),
      ...requests.map((id) => `requests/${id}`),
      ...routes.map((id) => `routes/${id}`),
      ...FULL_PLACES,
    ];
    const paths = await allPages(visitor, base, { more });
    const wrong = await wrongWith(browser, { gateway, visitor, paths, name: 'full' });
    expect(wrong).toEqual([]);
    await full.stop();
  });

  it(
    'is light, accessible and fits, in a project that is new, and outside of projects',
    WALK,
    async () => {
      const clock = new FakeClock(Date.now());
      const team = await Team.found(clock);
      const { gateway } = team;
      await team.joined('ben@example.com', 'member');
      const person = new Person(gateway, ANA);
      clock.advance(HOUR_MS);
      const empty = await person.project({ slug: 'empty', name: 'Side project' });
      const app = await RawApp.registered(gateway, { client_name: 'Trip Planner' });
      clock.advance(HOUR_MS);
      const visitor = await team.owner();
      const invitation = await team.inviteFrom(visitor, 'mia@example.com', 'approver');
      const before = tokensOf(gateway.folder, 'ui/sign-in').length;
      const stranger = new WebVisitor(gateway);
      await stranger.get('/ui/sign-in');
      await stranger.post('/ui/sign-in', { fields: { email: ANA } });
      const link = await linkToken(gateway.folder, 'ui/sign-in', before + 1);
      const paths = [
        // Its mail is sent.
        ...(await allPages(visitor, `/ui/p/${empty.project.slug}/`, { without: ['outbox'] })),
        ...(await walk(visitor, team.page('members'), [team.page('members')])),
        '/ui',
        '/ui/sign-in',
        `/ui/sign-in/${link}`,
        invitation,
        app.url(),
      ];
      const wrong = await wrongWith(browser, { gateway, visitor, paths, name: 'new' });
      expect(wrong).toEqual([]);
      await team.stop();
    },
  );

  it('was visited', () => {
    const inbox = { publicUrl: 'http://svc.test', oauth: () => Promise.reject(new Error()) };
    const app = uiRoutes(inbox as unknown as WebInbox, () => undefined);
    const items = UI_PAGES.map(({ path }) => path).filter((path) => !NO_ITEMS.includes(path));
    const missing = app.routes
      .filter(({ method, path }) => method === 'GET' && !NO_PAGES.has(path))
      .map(({ path }) => path)
      .filter((path) => {
        const [, page] = /^\/ui\/p\/:slug\/(\w+)\/:id$/.exec(path) ?? [];
        return page === undefined || items.includes(page);
      })
      .filter((path) => {
        const form = new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`);
        return ![...visited].some((one) => form.test(one));
      });
    expect(missing).toEqual([]);
    const sorted = weights.toSorted(([one], [other]) => other - one);
    expect(sorted[0]?.[0]).toBeGreaterThan(PAGE_MIN_BYTES);
    if (PICTURES === undefined) return;
    const lines = sorted.map(([bytes, path]) => `${bytes} ${path}\n`);
    writeFileSync(join(PICTURES, 'bytes.txt'), lines.join(''));
  });
});
