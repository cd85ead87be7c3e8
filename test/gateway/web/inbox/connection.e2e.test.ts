import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runs, svc, svcUp } from '../../../helpers/daemon.ts';
import { hasChromium, openBrowser } from '../pages/browser.ts';

describe.skipIf(!hasChromium())('a page that loses its connection', () => {
  let home: string;
  let pid: number;
  let base: string;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'svc-connection-'));
    ({ pid, base_url: base } = await svcUp(home));
    browser = await openBrowser();
    const context = await browser.newContext({ timezoneId: 'Asia/Kolkata', locale: 'en-IN' });
    page = await context.newPage();
    const { url } = JSON.parse(await svc(home, ['open', 'requests', '--print', '--json'])) as {
      url: string;
    };
    await page.goto(url);
    await page.getByRole('heading', { name: 'Requests' }).waitFor();
  });
  afterAll(async () => {
    await browser.close();
    if (runs(pid)) await svc(home, ['down']);
    rmSync(home, { recursive: true, force: true });
  });

  const line = () => page.locator('#connection');

  const asked = (summary: string) =>
    svc(home, ['ask', 'approval', 'deploy', summary, '--wait-seconds', '0', '--json']).catch(
      () => '',
    );

  it('says nothing while it is connected', async () => {
    await asked('First');
    await page.getByRole('link', { name: /First/ }).waitFor();
    await page.waitForTimeout(4000);
    expect(await line().textContent()).toBe('');
  });

  it('says so while the server hangs, and mends itself with what happened since', async () => {
    process.kill(pid, 'SIGSTOP');
    await expect.poll(() => line().isVisible()).toBe(true);
    expect(await line().textContent()).toMatch(
      /^Not connected\. What you see is from \d\d:\d\d\.$/,
    );
    process.kill(pid, 'SIGCONT');
    await asked('While away');
    await page.getByRole('link', { name: /While away/ }).waitFor();
    await line().waitFor({ state: 'hidden' });
  });

  it('says so when the server is gone, and mends itself once another one is there', async () => {
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => line().isVisible()).toBe(true);
    await page.waitForTimeout(3000);
    const port = new URL(base).port;
    ({ pid } = JSON.parse(await svc(home, ['up', '--port', port, '--json'])) as { pid: number });
    await line().waitFor({ state: 'hidden' });
    await asked('From the next');
    await page.getByRole('link', { name: /From the next/ }).waitFor();
  });

  it('shows times in the zone of the reader, in UTC where there is no script, and whole on hover', async () => {
    await page.getByRole('link', { name: /First/ }).click();
    const time = page.locator('main time').first();
    expect(await time.textContent()).toMatch(/^\d\d:\d\d:\d\d IST/);
    const iso = (await time.getAttribute('datetime')) ?? '';
    expect(await time.getAttribute('title')).toBe(iso);
    const local = new Date(Date.parse(iso) + 5.5 * 3_600_000).toISOString().slice(11, 19);
    expect(await time.textContent()).toContain(local);

    const state = await page.context().storageState();
    const plain = await browser.newContext({ javaScriptEnabled: false, storageState: state });
    const other = await plain.newPage();
    await other.goto(page.url());
    expect(await other.locator('main time').first().textContent()).toContain(
      `${iso.slice(11, 19)} UTC`,
    );
    await plain.close();
  });
});
