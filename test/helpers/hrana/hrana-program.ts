import { parseArgs } from 'node:util';
import { startHrana } from './server.ts';

/** A libSQL server for tests, in a separate process. Prints its URL as one line of JSON. Ends with its parent. */
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    folder: { type: 'string' },
    token: { type: 'string' },
    create: { type: 'string', default: 'auto' },
    replication: { type: 'boolean', default: false },
    'stream-idle-ms': { type: 'string', default: '10000' },
    'transaction-max-ms': { type: 'string', default: '5000' },
    'max-active-namespaces': { type: 'string', default: '100' },
  },
});
const { folder, token } = values;
if (folder === undefined) throw new Error('--folder is missing: name a folder for the databases.');
const server = await startHrana({
  folder,
  port: Number(values.port),
  ...(token === undefined ? {} : { token }),
  create: values.create === 'api' ? 'api' : 'auto',
  replication: values.replication,
  streamIdleMs: Number(values['stream-idle-ms']),
  transactionMaxMs: Number(values['transaction-max-ms']),
  maxActiveNamespaces: Number(values['max-active-namespaces']),
});
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
// It closes nothing, like a crash: committed data is in the log.
process.stdin.on('end', () => process.exit());
process.stdin.resume();
