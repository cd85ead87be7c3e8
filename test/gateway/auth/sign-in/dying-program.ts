import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import pino from 'pino';
import { Gateway } from '../../../../gateway/gateway.ts';
import { InProcessWriters } from '../../../../gateway/commit/thread/in-process.ts';
import type { Writers, WritersOptions } from '../../../../gateway/commit/thread/writers.ts';
import { AccountStore } from '../../../../gateway/store/control/accounts.ts';

// A gateway that kills itself at one point of making a project: `dying-program.ts <folder> <point>`. Prints its address.

const [folder = '', point = ''] = process.argv.slice(2);

/** Never answers: nothing runs after it. */
function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined);
}

// oxlint-disable-next-line typescript/unbound-method -- both are called with their store below
const { reserveProject, confirmProject } = AccountStore.prototype;
AccountStore.prototype.reserveProject = async function dying(...args) {
  const reserved = await reserveProject.apply(this, args);
  return point === 'reserved' ? die() : reserved;
};
AccountStore.prototype.confirmProject = async function dying(...args) {
  if (point === 'made') await die();
  await confirmProject.apply(this, args);
  if (point === 'confirmed') await die();
};

function dyingWriters(options: WritersOptions): Writers {
  const writers = new InProcessWriters(options);
  const run = writers.run.bind(writers);
  // The database is there, and nothing is in it.
  writers.run = (...args) => (point === 'opened' ? die() : run(...args));
  return writers;
}

mkdirSync(folder, { recursive: true });
const server = createServer();
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const gateway = await Gateway.open({
  dataFolder: folder,
  urls: { api: url, mcp: `${url}/mcp`, hooks: url },
  ratePerMinute: 0,
  log: pino({ level: 'fatal' }),
  onFatal: () => undefined,
  signIn: true,
  openWriters: dyingWriters,
});
const listener = getRequestListener(gateway.app.fetch, { overrideGlobalObjects: false });
server.on('request', (request, response) => void listener(request, response));
process.stdout.write(`${url}\n`);
