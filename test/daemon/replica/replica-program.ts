import { Replica } from '../../../daemon/replica/replica.ts';
import pino from 'pino';

// A process with a replica in it, to be killed. Says how far the copy is, as it moves on.
const [folder = '', projectId = '', gateway = '', ledgerHeadsFile = ''] = process.argv.slice(2);
const apiKey = process.env['TEST_KEY'] ?? '';
const log = pino({ level: 'info' }, pino.destination(2));
const replica = Replica.open({
  folder,
  projectId,
  gateway: new URL(gateway),
  apiKey,
  log,
  ledgerHeadsFile,
});
let told = -1;
setInterval(() => {
  const { position } = replica.status;
  if (position === null || position === told) return;
  told = position;
  process.stdout.write(`${position}\n`);
}, 5);
