import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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
let home: string;
let gateway: TestGateway;
let front: TlsFront;
let member: Member | null = null;

beforeEach(async () => {
  folder = temporaryFolder();
  home = join(folder.path, 'ada');
  mkdirSync(home, { mode: 0o700 });
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
  member = new Member({ home, gateway: front.url, project, env });
  return member;
}

/** Signs in where `caFile` is named by its name alone, as a shell in its folder would. */
async function login({ caFile }: Certified): Promise<void> {
  const key = join(folder.path, 'ada.key');
  writeFileSync(key, gateway.apiKey);
  const args = ['login', '--gateway', front.url, '--with-key', `@${key}`];
  await promisify(execFile)(process.execPath, [resolve('dist/svc.cjs'), ...args], {
    cwd: dirname(caFile),
    env: { ...process.env, SVC_HOME: home, NODE_EXTRA_CA_CERTS: basename(caFile) },
  });
}

async function untilReplica(one: Member, wanted: object): Promise<void> {
  await expect
    .poll(async () => (await one.json(['status']))['replica'], { timeout: 60_000 })
    .toMatchObject(wanted);
}

/** What the copy says of a value that was just written. */
async function writtenAndRead(one: Member): Promise<unknown> {
  await untilReplica(one, { state: 'live', reads: 'local', detail: null });
  await one.json(['kv', 'set', 'color', '"blue"']);
  const { body, headers } = await one.call('GET', '/v1/kv/color');
  return { value: body['value'], isFromCopy: headers.has('x-service-replica-age') };
}

describe.skipIf(!ready)('a member of a gateway behind TLS', () => {
  it.each([
    ['an authority of its own', certifiedByOwnCa],
    ['a certificate that signed itself', certifiedByItself],
  ])('has a copy where Node was told to trust %s', async (_, certify) => {
    const certified = certify(folder.path);
    const ada = await memberBehind(certified, { NODE_EXTRA_CA_CERTS: certified.caFile });
    await ada.up();
    expect(await writtenAndRead(ada)).toEqual({ value: 'blue', isFromCopy: true });
  });

  it.each([
    ['none', () => ''],
    ['another one', () => certifiedByItself(folder.path).caFile],
    ['a file that is gone', () => join(folder.path, 'gone.pem')],
  ])('has a copy where the sign-in was told whom to trust, and the start %s', async (_, start) => {
    const certified = certifiedByOwnCa(folder.path);
    const ada = await memberBehind(certified, { NODE_EXTRA_CA_CERTS: start() });
    await login(certified);
    await ada.up();
    expect(await writtenAndRead(ada)).toEqual({ value: 'blue', isFromCopy: true });
  });

  it.each([{}, { NODE_TLS_REJECT_UNAUTHORIZED: '0' }])(
    'is told what is missing: %j',
    async (env) => {
      const certified = certifiedByOwnCa(folder.path);
      const ada = await memberBehind(certified, { NODE_EXTRA_CA_CERTS: '', ...env });
      await ada.up();
      const missing = /no secure connection: [A-Z_]+; .*NODE_EXTRA_CA_CERTS=FILE/;
      await untilReplica(ada, { state: 'offline', detail: expect.stringMatching(missing) });
      const { status, body } = await ada.call('PUT', '/v1/kv/color', { value: 'blue' });
      expect(status).toBe(503);
      const { hint } = body['error'] as { hint: string };
      expect(hint).toMatch(missing);
    },
  );

  it.each([
    ['none', () => ''],
    ['another one', () => certifiedByItself(folder.path).caFile],
  ])('is told which file is gone since the sign-in, where the start named %s', async (_, start) => {
    const certified = certifiedByOwnCa(folder.path);
    const ada = await memberBehind(certified, { NODE_EXTRA_CA_CERTS: start() });
    await login(certified);
    rmSync(certified.caFile);
    await ada.up();
    const told = `the file of certificate authorities ${certified.caFile} can't be read: put it back`;
    await untilReplica(ada, { state: 'offline', detail: expect.stringContaining(told) });
  });

  it('is told that the certificate is for another name, and nothing of authorities', async () => {
    const certified = certifiedByOwnCa(folder.path, 'subjectAltName=DNS:other.example');
    const trusting = { NODE_EXTRA_CA_CERTS: certified.caFile };
    const ada = await memberBehind(certified, trusting);
    await ada.up();
    const detail = expect.stringContaining('its certificate is for another name');
    await untilReplica(ada, { state: 'offline', detail });
    const env = { SVC_GATEWAY: front.url, SVC_API_KEY: gateway.apiKey, SVC_HOME: home };
    const ran = promisify(execFile)(process.execPath, [resolve('dist/svc.cjs'), 'whoami'], {
      env: { ...process.env, ...env, ...trusting },
    });
    const told = /secure connection to .*ALTNAME_INVALID[^]*Its certificate is for another name/;
    await expect(ran).rejects.toMatchObject({
      code: 7,
      stderr: expect.stringMatching(told) as string,
    });
  });

  it('gets no answer to a command that was told to trust anyone', async () => {
    await memberBehind(certifiedByOwnCa(folder.path), {});
    const args = ['whoami'];
    const env = { SVC_GATEWAY: front.url, SVC_API_KEY: gateway.apiKey, SVC_HOME: home };
    const ran = promisify(execFile)(process.execPath, [resolve('dist/svc.cjs'), ...args], {
      env: { ...process.env, ...env, NODE_TLS_REJECT_UNAUTHORIZED: '0' },
    });
    const stderr = expect.stringMatching(/is ignored: svc always checks[^]*certificate/i) as string;
    await expect(ran).rejects.toMatchObject({ code: 7, stderr });
  });
});
