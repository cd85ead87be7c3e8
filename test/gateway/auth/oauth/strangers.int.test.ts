import { createServer, get, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CallbackAllow } from '../../../../gateway/callbacks/callback-allow.ts';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { Person } from '../sign-in/person.ts';
import { ANA, RawApp } from './app.ts';
import { Browser } from './browser.ts';

const HOUR_MS = 3_600_000;

const clock = new FakeClock();
let gateway: TestGateway;
let site: Server;
/** How often the gateway asked for the app's document. */
let asked = 0;
let app: RawApp;

beforeAll(async () => {
  const callbackAllow = CallbackAllow.parse('127.0.0.0/8');
  gateway = await TestGateway.start({ clock, signIn: true, callbackAllow });
  await new Person(gateway, ANA).project({ name: 'Acme' });
  site = createServer((_request, response) => {
    asked += 1;
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  app = new RawApp(gateway);
  app.clientId = `http://127.0.0.1:${(site.address() as AddressInfo).port}/client.json`;
});
afterAll(async () => {
  site.close();
  await gateway.stop();
});
beforeEach(() => clock.advance(HOUR_MS));

/** Opens the page many times in a person's browser, from an address of this machine; returns the statuses. */
function flood(browser: Browser, times: number, localAddress = '127.0.0.1') {
  const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ');
  const url = gateway.url + app.url({ client_id: 'junk' });
  const one = () =>
    new Promise<number | undefined>((resolve, reject) => {
      get(url, { localAddress, headers: { cookie } }, (answer) => {
        resolve(answer.resume().statusCode);
      }).on('error', reject);
    });
  return Promise.all(Array.from({ length: times }, one));
}

describe('an app’s document', () => {
  it('is not read for a person without a project, so that strangers make the gateway fetch nothing', async () => {
    const stranger = await Browser.signedIn(gateway, 'dan@example.com');
    const { status } = await stranger.openFromApp(app.url());
    expect([status, asked]).toEqual([400, 0]);
    const ana = await Browser.signedIn(gateway, ANA);
    await ana.openFromApp(app.url());
    expect(asked).toBe(1);
  });
});

describe('requests for access', () => {
  it('are limited for a person over all their sessions', async () => {
    const [first, second] = [
      await Browser.signedIn(gateway, ANA),
      await Browser.signedIn(gateway, ANA),
    ];
    expect(new Set(await flood(first, 60))).toEqual(new Set([400]));
    expect(await flood(second, 60, '127.0.0.2')).toContain(429);
  });

  it('are limited for a network over all its people', async () => {
    const [ana, dan] = [
      await Browser.signedIn(gateway, ANA),
      await Browser.signedIn(gateway, 'dan@example.com'),
    ];
    expect(new Set(await flood(ana, 60, '127.0.0.3'))).toEqual(new Set([400]));
    expect(await flood(dan, 60, '127.0.0.3')).toContain(429);
    expect(new Set(await flood(dan, 10, '127.0.0.4'))).toEqual(new Set([400]));
  });
});
