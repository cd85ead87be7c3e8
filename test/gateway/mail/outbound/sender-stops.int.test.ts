import { rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeSmtp } from '../../../helpers/fake-smtp.ts';
import { TestSending } from './sending.ts';
import { hurryTime } from '../../../helpers/hurried-time.ts';

beforeEach(() => hurryTime(10));

let smtp: FakeSmtp;
beforeEach(async () => {
  smtp = await FakeSmtp.start();
});
afterEach(() => smtp.close());

describe('a gateway that is closed while it sends', () => {
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });

  /** Asks for a mail, closes the gateway as soon as `isThere`, and opens it again over a server that works: how it fared. */
  async function closed(isThere: () => boolean): Promise<unknown> {
    const before = await TestSending.start({ smtp });
    folders.push(before.gateway.folder);
    await before.allowAll();
    const id = await before.sent();
    await expect.poll(isThere).toBe(true);
    await before.stop({ keepFolder: true });
    smtp.script = {};
    before.clock.advance(60_000);
    const { clock, gateway } = before;
    const host = await TestSending.start({ smtp, clock, folder: gateway.folder });
    const again = await TestSending.of(host.gateway, before.project.info.id, clock);
    await again.maintenance();
    const look = () => again.project.store.read((store) => store.emails.messagesOf(id));
    await expect.poll(async () => (await look())[0]?.due_at).toBeNull();
    const fared = (await look()).map(({ code, status }) => ({ code, status }));
    await host.stop();
    return fared;
  }

  it('does not give a mail twice that a server may have', async () => {
    smtp.script = { end: 'hang' };
    const fared = await closed(() => smtp.received.length === 1);
    expect(fared).toEqual([{ status: 'failed', code: 'unknown' }]);
    expect(smtp.received).toHaveLength(1);
  });

  it('gives a mail later of which nothing went out', async () => {
    smtp.script = { rcpt: 'hang' };
    const fared = await closed(() => smtp.commands.some((one) => one.startsWith('RCPT')));
    expect(fared).toEqual([{ status: 'sent', code: null }]);
    expect(smtp.received).toHaveLength(1);
  });
});
