import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freshBuild } from '../helpers/daemon.ts';
import { temporaryFolder, TestGateway } from '../helpers/gateway.ts';
import { Member } from '../helpers/team.ts';
import {
  certifiedByItself,
  certifiedByOwnCa,
  hasOpenssl,
  TlsFront,
  type Certified,
} from '../helpers/tls-front.ts';

const ready = hasOpenssl('a gateway with an authority of its own');

let folder: ReturnType<typeof temporaryFolder>;
let gateway: TestGateway;
let front: TlsFront;
let member: Member | null = null;

beforeEach(async () => {
  freshBuild();
  folder = temporaryFolder();
  gateway = await TestGateway.start();
});

afterEach(async () => {
  await member?.down();
  member = null;
  await front.close();
  await gateway.stop();
  folder.remove();
});

async function memberBehind(certified: Certified, env: Record<string, string>): Promise<Member> {
  front = await TlsFront.open(gateway.url, certified);
  const project = { id: gateway.projectId, apiKey: gateway.apiKey };
  member = new Member({ home: join(folder.path, 'ada'), gateway: front.url, project, env });
  await member.up();
  return member;
}

async function expectLive(one: Member): Promise<void> {
  await expect
    .poll(async () => (await one.json(['status']))['replica'], { timeout: 20_000 })
    .toMatchObject({ state: 'live', reads: 'local', detail: null });
  await one.json(['kv', 'set', 'color', '"blue"']);
  const { body, headers } = await one.call('GET', '/v1/kv/color');
  expect(body).toMatchObject({ value: 'blue' });
  expect(headers.get('x-service-replica-age')).not.toBeNull();
}

describe.skipIf(!ready)('a member of a gateway behind TLS', () => {
  it.each([
    ['an authority of its own', certifiedByOwnCa],
    ['a certificate that signed itself', certifiedByItself],
  ])('has a copy where Node was told to trust %s', async (_, certify) => {
    const certified = certify(folder.path);
    const ada = await memberBehind(certified, { NODE_EXTRA_CA_CERTS: certified.caFile });
    await expectLive(ada);
  });
});
