import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { linkToken, mailsOf } from '../../../helpers/outbox.ts';
import { ask, pathOf, WebVisitor } from './web-visitor.ts';

const OWNER = 'ana@example.com';
const HOUR = 3_600_000;

const clock = new FakeClock();
let gateway: TestGateway;
let owner: WebVisitor;
beforeAll(async () => {
  gateway = await TestGateway.start({ clock });
  await gateway.gateway.setOwner(gateway.projectId, OWNER);
  owner = await WebVisitor.asOwner(gateway, OWNER);
});
afterAll(() => gateway.stop());

const mailsAbout = (summary: string): number =>
  mailsOf(gateway.folder).filter((mail) => mail.includes(summary)).length;

describe('muting a key', () => {
  it('on the page of a mailed link stops its mails for an hour, and shows in the inbox', async () => {
    await ask(gateway);
    const link = `/a/${await linkToken(gateway.folder, 'a', 1)}`;
    const person = new WebVisitor(gateway);
    expect((await person.get(link)).html).toContain('Mute this key for an hour');
    expect((await person.post(link, { fields: { verb: 'mute' }, csrf: false })).status).toBe(403);
    expect((await person.post(link, { fields: { verb: 'mute' } })).status).toBe(303);
    expect((await person.get(link)).html).toContain('Unmute this key');
    const id = await ask(gateway, { summary: 'Held back' });
    await expect
      .poll(async () => (await gateway.call('GET', `/v1/requests/${id}`)).body)
      .toMatchObject({ status: 'pending', notified: [{ status: 'held' }] });
    expect(mailsAbout('Held back')).toBe(0);
    const list = await owner.get(await pathOf(gateway));
    expect(list.html).toContain('is muted until');
    expect(list.html).toContain('Held back');
  });

  it('ends in the inbox, and one mail brings what was held', async () => {
    const path = await pathOf(gateway);
    const { html } = await owner.get(path);
    const key = /name="key" value="([^"]*)"/.exec(html)?.[1] ?? '';
    expect((await owner.post(path, { fields: { act: 'unmute', key } })).location).toBe(path);
    expect((await owner.get(path)).html).not.toContain('is muted until');
    await expect.poll(() => mailsAbout('Held back')).toBe(1);
    expect(mailsAbout('1 more request from key "admin" waits for you')).toBe(1);
  });

  it('can be done on the page of a request in the inbox, by who decides there', async () => {
    const path = await pathOf(gateway, await ask(gateway, { summary: 'Noisy' }));
    const withKey = await WebVisitor.withKey(gateway);
    await withKey.get(path);
    expect((await withKey.post(path, { fields: { verb: 'mute' } })).status).toBe(403);
    await owner.get(path);
    expect((await owner.post(path, { fields: { verb: 'mute' } })).location).toBe(path);
    expect((await owner.get(path)).html).toContain('Unmute this key');
    clock.advance(HOUR);
    await WebVisitor.asOwner(gateway, OWNER).then((again) => (owner = again));
    expect((await owner.get(path)).html).toContain('Mute this key for an hour');
  });
});
