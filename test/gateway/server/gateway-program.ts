import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import pino from 'pino';
import { Gateway } from '../../../gateway/gateway.ts';
import { readMailConfig } from '../../../gateway/mail/read-mail-config.ts';
import { unroutable } from '../../../shared/api/http.ts';

/**
 * A gateway in a process of its own, which can be killed: `gateway-program.ts FOLDER OPEN_MAX`, with the settings of mail in
 * the environment, and SVC_TEST_SIGN_IN for sign-in. Prints its address as soon as it answers.
 */
const [folder = '', max = '256'] = process.argv.slice(2);
const server = createServer({ keepAliveTimeout: 0 });
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const gateway = await Gateway.open({
  dataFolder: folder,
  urls: { api: url, mcp: `${url}/mcp`, hooks: url },
  ratePerMinute: 0,
  openProjectsMax: Number(max),
  signIn: process.env['SVC_TEST_SIGN_IN'] !== undefined,
  deletionClock: { asOf: (now) => now, waitMs: () => 0 },
  messaging: { mail: readMailConfig(process.env), telegram: null },
  log: pino({ level: 'error' }, pino.destination(2)),
  onFatal: () => process.exit(1),
});
const listener = getRequestListener(gateway.app.fetch, {
  overrideGlobalObjects: false,
  errorHandler: unroutable,
});
server.on('request', (request, response) => void listener(request, response));
process.once('SIGTERM', () => {
  server.closeAllConnections();
  void gateway.close().then(() => process.exit(0));
});
process.stdout.write(`${JSON.stringify({ url })}\n`);
