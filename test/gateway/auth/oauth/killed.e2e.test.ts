import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder, type TestGateway } from '../../../helpers/gateway.ts';
import { startGatewayProcess, type GatewayProcess } from '../../server/gateway-process.ts';
import { Person } from '../sign-in/person.ts';
import { ANA, RawApp } from './app.ts';
import { Browser } from './browser.ts';

let folder: ReturnType<typeof temporaryFolder>;
let running: GatewayProcess;
beforeEach(async () => {
  folder = temporaryFolder();
  running = await start();
});
afterEach(async () => {
  await running.kill();
  folder.remove();
});

function start(): Promise<GatewayProcess> {
  return startGatewayProcess(folder.path, 256, { SVC_TEST_SIGN_IN: '1' });
}

function place(): TestGateway {
  return { url: running.url, folder: folder.path } as TestGateway;
}

/** The same client at the gateway that runs now, which has another address. */
function moved(app: RawApp): RawApp {
  const next = new RawApp(place());
  next.clientId = app.clientId;
  return next;
}

async function killed(app: RawApp): Promise<RawApp> {
  await running.kill();
  running = await start();
  return moved(app);
}

describe('after the gateway was killed', () => {
  it('tokens, renewals, reuse and revocations are as the client was told', async () => {
    await new Person(place(), ANA).project({ name: 'Acme' });
    const browser = await Browser.signedIn(place(), ANA);
    let app = await RawApp.registered(place());
    const { body: first } = await app.exchange(await app.code(browser));
    app = await killed(app);
    expect(await app.works(first['access_token'])).toBe(true);

    const { body: second } = await app.refresh(first['refresh_token']);
    app = await killed(app);
    expect(await app.works(second['access_token'])).toBe(true);
    const { body: third } = await app.refresh(second['refresh_token']);
    expect(third).toMatchObject({ token_type: 'Bearer' });
    expect((await app.revoke(third['refresh_token'])).status).toBe(200);
    app = await killed(app);
    expect(await app.works(third['access_token'])).toBe(false);
    expect((await app.refresh(third['refresh_token'])).body).toMatchObject({
      error: 'invalid_grant',
    });
  });

  it('a used code and a used refresh token stay used', async () => {
    await new Person(place(), ANA).project({ name: 'Acme' });
    const browser = await Browser.signedIn(place(), ANA);
    let app = await RawApp.registered(place());
    const { body: first } = await app.exchange(await app.code(browser));
    const { body: second } = await app.refresh(first['refresh_token']);
    app = await killed(app);
    const again = await app.refresh(first['refresh_token']);
    expect(again.body).toMatchObject({ error: 'invalid_grant' });
    expect(await app.works(second['access_token'])).toBe(false);
  });
});
