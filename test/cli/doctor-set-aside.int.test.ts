import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../../cli/run.ts';
import { arrive, mailWith } from '../gateway/mail/inbound/arrivals.ts';
import { TestSending } from '../gateway/mail/outbound/sending.ts';
import { placeOf } from '../gateway/web/inbox/places.ts';
import { WebVisitor } from '../gateway/web/inbox/web-visitor.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { TextSink } from './fake-output.ts';

let home: ReturnType<typeof temporaryFolder>;
let mail: TestSending;
beforeEach(async () => {
  home = temporaryFolder();
  mail = await TestSending.start();
  const { url: gateway, apiKey: api_key, projectId: project } = mail.gateway;
  const stored = { profiles: { team: { gateway, api_key, project } }, current: 'team' };
  writeFileSync(join(home.path, 'credentials.json'), JSON.stringify(stored), { mode: 0o600 });
});
afterEach(async () => {
  await mail.stop();
  home.remove();
});

/** What `svc doctor` says of mail. */
async function said(): Promise<unknown[]> {
  const [stdout, stderr] = [new TextSink(), new TextSink()];
  const env = { SVC_HOME: home.path };
  await run(['doctor', '--json'], { env, stdout, stderr, signal: new AbortController().signal });
  const { items } = JSON.parse(stdout.text) as { items: { check: string }[] };
  return items.filter(({ check }) => check === 'mail');
}

describe('mails that came under the Message-ID of another one', () => {
  it('are told by svc doctor and the overview, until somebody takes them in', async () => {
    expect(await said()).toEqual([]);
    const parcel = { message_id: '<notice@parcels.example>' };
    for (const nth of [1, 2, 3]) {
      await arrive(mail, mailWith({ ...parcel, subject: `Parcel ${nth} is on its way` }));
    }
    expect(await said()).toMatchObject([
      {
        status: 'warning',
        detail: '2 mails have the Message-ID of another mail, but another From, Date or Subject',
        fix: expect.stringContaining('svc inbox requeue'),
      },
    ]);
    const visitor = await WebVisitor.withKey(mail.gateway, mail.apiKey);
    const overview = async () => (await visitor.get(await placeOf(mail.gateway, 'overview'))).html;
    expect(await overview()).toContain('2 mails have the Message-ID of another one');
    expect(await overview()).not.toContain('failed for good');
    const dead = await mail.gateway.call<{ items: { id: string }[] }>(
      'GET',
      '/v1/inbox?status=dead',
    );
    for (const { id } of dead.body.items) {
      const place = await placeOf(mail.gateway, 'events', id);
      expect((await visitor.get(place)).html).toContain('Why it was set aside');
      await mail.call('POST', '/v1/inbox/requeue', { event_id: id });
    }
    expect(await said()).toEqual([]);
    expect(await overview()).not.toContain('the Message-ID of another one');
    expect(await mail.events('email.received')).toHaveLength(3);
  });
});
