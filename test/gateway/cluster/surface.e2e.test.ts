import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../../shared/operations/index.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { Gateways } from '../../helpers/gateways.ts';
import { findProgram } from '../../helpers/programs.ts';
import { required } from '../../helpers/require.ts';
import { Contract } from '../../surface/contract.ts';
import { wholeDocument } from '../../surface/doors/document.ts';
import { prepared } from '../../surface/preparations.ts';
import { startReceiver } from '../../surface/receiver.ts';
import { World } from '../../surface/scenario.ts';
import { unmarked } from '../../surface/unmarked.ts';
import type { Receiver } from '../callbacks/callback-receiver.ts';

const nginx = findProgram('nginx');
const contract = new Contract(wholeDocument());

describe.runIf(required('nginx', nginx !== null, 'apt-get install -y nginx-light'))(
  'two gateways that answer one project by turns',
  () => {
    const folder = temporaryFolder();
    let gateways: Gateways;
    let receiver: Receiver;
    let world: World;
    let mcp: Client;

    beforeAll(async () => {
      gateways = await Gateways.start({
        folder: folder.path,
        nginx: nginx ?? '',
        publicRoad: 'even',
        env: { SVC_MAIL_DOMAIN: 'inbox.example' },
      });
      const [project] = await gateways.newProjects('turns');
      const { apiKey = '' } = project ?? {};
      const url = gateways.urls.even;
      receiver = await startReceiver();
      world = new World({ url, apiKey }, receiver.url(), folder.path);
      await world.event();
      mcp = new Client({ name: 'turns-test', version: '1.0.0' });
      const headers = { authorization: `Bearer ${apiKey}` };
      const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
        requestInit: { headers },
      });
      await mcp.connect(transport);
    });
    afterAll(async () => {
      await mcp.close();
      await gateways.stop();
      await receiver.stop();
      folder.remove();
    });

    describe.each(operations.map((operation) => [operation.name, operation] as const))(
      '%s',
      (name, operation) => {
        it('answers as promised over REST', async () => {
          const { status, body } = await world.run(name, await prepared(operation, world));
          const { rest } = operation;
          expect([status, body]).toEqual([
            rest.accepted?.(body) ? 202 : (rest.status ?? 200),
            expect.anything(),
          ]);
          expect(contract.faults(name, status, body)).toEqual([]);
        });

        if (operation.mcp === false) return;
        it('answers as promised over MCP', async () => {
          const input = await prepared(operation, world);
          const answer = await mcp.callTool({ name, arguments: input });
          expect(answer).toMatchObject({ isError: false });
          const status = operation.rest.status ?? 200;
          const told = unmarked(answer.structuredContent as Record<string, unknown>);
          expect(contract.faults(name, status, told)).toEqual([]);
        });
      },
    );

    it('was answered by both', () => {
      for (const path of ['/v1/', '/mcp', '/w/'])
        expect(new Set(gateways.reachedBy(path))).toEqual(new Set([0, 1]));
      expect(gateways.passed.filter(({ status }) => status >= 500)).toEqual([]);
    });

    it('leaves a ledger that holds', async () => {
      expect(await world.get('ledger_verify', {})).toMatchObject({ ok: true, first_bad_seq: null });
    });
  },
);
