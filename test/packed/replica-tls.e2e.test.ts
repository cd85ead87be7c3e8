import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deployedServer, startNginx } from '../gateway/server/nginx.ts';
import { filesUnder } from '../helpers/files.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { findProgram, freePort } from '../helpers/programs.ts';
import { required } from '../helpers/require.ts';
import { certifiedByOwnCa, hasOpenssl } from '../helpers/tls-front.ts';
import { HostedGateway } from './hosted-gateway.ts';
import { installPackage } from './installed.ts';
import { Machine } from './machine.ts';

const SOON = { timeout: 60_000, interval: 100 };
const SCOPES = 'inbox:read,inbox:write,approvals,disk,ledger:read';
/** The certificate, and what to set. */
const NOT_TRUSTED = /UNABLE_TO_VERIFY_LEAF_SIGNATURE[^]*NODE_EXTRA_CA_CERTS=FILE/;

const installed = await installPackage();
const nginx = findProgram('nginx');
const hasNginx = required('nginx', nginx !== null, 'apt-get install -y nginx-light');

describe.runIf(installed && hasNginx && hasOpenssl('an authority of its own'))(
  'a member whose gateway is behind nginx, with TLS and an authority of its own',
  () => {
    const folder = temporaryFolder();
    const before = getGlobalDispatcher();
    const certified = certifiedByOwnCa(folder.path);
    const { caFile } = certified;
    const keyFile = join(folder.path, 'bob.key');
    let host: Machine;
    let ana: Machine;
    let bob: Machine;
    let proxy: Awaited<ReturnType<typeof startNginx>>;
    let url: string;
    /** Where Bob's daemon listens. */
    let base: string;

    beforeAll(async () => {
      url = `https://127.0.0.1:${await freePort()}`;
      host = new Machine(installed);
      const gateway = await HostedGateway.start(host, { SVC_PUBLIC_URL: url });
      const server = deployedServer(Number(new URL(url).port), gateway.listen, certified);
      proxy = await startNginx(nginx ?? '', { folder: join(folder.path, 'nginx'), server, url });
      // The browser of whoever signs in trusts the authority.
      setGlobalDispatcher(new Agent({ connect: { ca: readFileSync(caFile, 'utf8') } }));
      ana = new Machine(installed, { NODE_EXTRA_CA_CERTS: caFile });
      await gateway.signIn(ana, '--email', 'ana@example.com', '--create', 'Shop');
      const made = ['key', 'create', '--name', 'bob', '--scopes', SCOPES];
      const { api_key: key } = await ana.json<{ api_key: string }>(...made);
      writeFileSync(keyFile, key);
      bob = new Machine(installed);
    });
    afterAll(async () => {
      setGlobalDispatcher(before);
      await bob.remove();
      await ana.remove();
      await proxy.end();
      await host.remove();
      folder.remove();
    });

    const login = (env: Record<string, string> = {}) =>
      bob.run(['login', '--gateway', url, '--with-key', `@${keyFile}`], env);

    async function untilReplica(wanted: object): Promise<void> {
      await expect.poll(() => bob.json('status'), SOON).toMatchObject({ replica: wanted });
    }

    async function doctor(): Promise<string> {
      return (await bob.run(['doctor', '--json'])).out;
    }

    async function up(): Promise<void> {
      ({ base_url: base } = await bob.json<{ base_url: string }>('up', '--port', '0'));
    }

    function asked(path: string): Promise<Response> {
      const authorization = `Bearer ${readFileSync(keyFile, 'utf8')}`;
      return fetch(base + path, { headers: { authorization } });
    }

    /** What Bob's daemon says of a value, and whether it took that from the copy. */
    async function read(key: string): Promise<unknown> {
      const answer = await asked(`/v1/kv/${key}`);
      const { value } = (await answer.json()) as { value: unknown };
      return { value, isFromCopy: answer.headers.has('x-service-replica-age') };
    }

    it('is told at the sign-in that the certificate is not trusted, and what to set', async () => {
      const { code, err } = await login();
      expect(code).toBe(7);
      expect(err).toMatch(NOT_TRUSTED);
    });

    it('has a live copy of what others write, writes through it, and is woken', async () => {
      expect(await login({ NODE_EXTRA_CA_CERTS: caFile })).toMatchObject({ code: 0 });
      await up();
      await untilReplica({ state: 'live', reads: 'local', detail: null });
      expect(await doctor()).toMatch(/"check":"replica","status":"ok","detail":"live"/);
      await ana.svc('kv', 'set', 'color', '"green"');
      await expect.poll(() => read('color'), SOON).toEqual({ value: 'green', isFromCopy: true });
      await bob.svc('kv', 'set', 'color', '"blue"');
      expect(await read('color')).toEqual({ value: 'blue', isFromCopy: true });
      expect(await ana.json('kv', 'get', 'color')).toMatchObject({ value: 'blue' });

      await ana.svc('source', 'add', 'shop');
      const waiting = asked('/v1/inbox/wait?source=shop&timeout_seconds=60');
      await ana.svc('trigger', 'webhook', '--source', 'shop');
      expect(await (await waiting).json()).toMatchObject({ event: { source: 'shop' } });
    });

    it('keeps the copy where the authority is gone, is told so, and goes on with it', async () => {
      const copyOf = () => filesUnder(bob.home).filter((path) => path.endsWith('/replica.db'));
      const copies = copyOf().map((path) => statSync(path).ino);
      expect(copies).toHaveLength(1);
      await bob.svc('down');
      renameSync(caFile, `${caFile}.away`);
      await up();
      await untilReplica({
        state: 'offline',
        reads: 'stale',
        detail: expect.stringMatching(NOT_TRUSTED),
      });
      expect(await doctor()).toMatch(
        /"check":"replica","status":"warning",[^}]*NODE_EXTRA_CA_CERTS=FILE/,
      );
      expect(await read('color')).toEqual({ value: 'blue', isFromCopy: true });
      const { code, err } = await bob.run(['kv', 'set', 'color', '"red"']);
      expect(code).toBe(7);
      expect(err).toMatch(NOT_TRUSTED);

      await bob.svc('down');
      renameSync(`${caFile}.away`, caFile);
      await ana.svc('kv', 'set', 'color', '"yellow"');
      await up();
      await untilReplica({ state: 'live', reads: 'local', detail: null });
      expect(copyOf().map((path) => statSync(path).ino)).toEqual(copies);
      expect(await read('color')).toEqual({ value: 'yellow', isFromCopy: true });
    });
  },
);
