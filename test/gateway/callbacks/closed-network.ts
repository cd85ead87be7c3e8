import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { CallbackAllow } from '../../../gateway/callbacks/callback-allow.ts';
import { CallbackSender, type PostResult } from '../../../gateway/callbacks/post.ts';
import { HOSTILE_ANSWERS, HOSTILE_URLS, resolved, urlOf } from './hostile.ts';
import { parsedUrl } from '../../../shared/lib/urls.ts';

/**
 * Runs in a network namespace where every address there is leads back to this process, and none leads out: whatever the
 * guard lets through, arrives here and is counted.
 */
export interface ClosedNetworkReport {
  /** URLs that were posted to, and those that reached an address. */
  readonly tried: number;
  readonly reached: readonly string[];
  /** Results that were anything but a refusal of the guard. */
  readonly notRefused: readonly string[];
  /** The same with an allow list of all addresses: how many URLs get there without the guard. */
  readonly reachedWithoutGuard: number;
  /** Hostile addresses that answer here when they are called directly. */
  readonly answering: number;
  /** Where the posts to public names went. */
  readonly publicReached: readonly string[];
  /** Where the connections of a name went that changes from public to private. */
  readonly rebindingReached: readonly string[];
  readonly rebinding: readonly PostResult[];
}

const PORTS = [22, 25, 53, 80, 443, 1023, 8443];
const PUBLIC = '93.184.215.14';
const ALL_URLS = [
  ...HOSTILE_URLS.flatMap(([, urls]) => urls),
  ...HOSTILE_ANSWERS.map(([host]) => urlOf(host)),
];

let reached: string[] = [];

async function listen(port: number): Promise<void> {
  const server = createServer((socket) => {
    reached.push(`${socket.localAddress?.replace('::ffff:', '')}`);
    socket.on('error', () => undefined).destroy();
  });
  await once(server.listen(port, '::'), 'listening');
}

/** Names of the table have their hostile addresses, local names are this machine, all others are public. */
function resolve(host: string): Promise<readonly LookupAddress[]> {
  const hostile = HOSTILE_ANSWERS.find(([name]) => name === host)?.[1];
  if (hostile) return Promise.resolve(resolved(...hostile));
  return Promise.resolve(resolved(host.endsWith('.example.com') ? PUBLIC : '127.0.0.1'));
}

function post(sender: CallbackSender, url: string): Promise<PostResult> {
  return sender.post({ url, body: '{}', headers: {}, deadlineMs: 1000 });
}

async function taking<T>(work: () => Promise<T>): Promise<[T, string[]]> {
  reached = [];
  const result = await work();
  return [result, reached];
}

async function guarded(): Promise<Pick<ClosedNetworkReport, 'reached' | 'notRefused'>> {
  const sender = new CallbackSender({ resolve });
  const [notRefused, arrived] = await taking(async () => {
    const wrong: string[] = [];
    for (const url of ALL_URLS) {
      const result = await post(sender, url);
      if (result.kind !== 'failed' || !result.guard)
        wrong.push(`${url}: ${JSON.stringify(result)}`);
    }
    return wrong;
  });
  sender.close();
  return { reached: arrived, notRefused };
}

async function unguarded(): Promise<number> {
  const sender = new CallbackSender({ resolve, allow: CallbackAllow.parse('0.0.0.0/0,::/0') });
  let count = 0;
  for (const url of ALL_URLS) {
    const [, arrived] = await taking(() => post(sender, url));
    if (arrived.length > 0) count += 1;
  }
  sender.close();
  return count;
}

/** Calls each address of the table as any program would. */
async function answeringAddresses(): Promise<number> {
  const literals = ALL_URLS.flatMap((url) => parsedUrl(url)?.hostname ?? []);
  const hosts = literals.map((host) => host.replace(/^\[|\]$/g, ''));
  const addresses = new Set([...hosts, ...HOSTILE_ANSWERS.flatMap(([, list]) => list)]);
  let count = 0;
  for (const address of addresses) {
    if (!/^[\d.]+$|:/.test(address)) continue;
    const socket = connect(8443, address);
    const connected = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'close').then(() => false),
    ]).catch(() => false);
    if (connected) count += 1;
    socket.on('error', () => undefined).destroy();
  }
  return count;
}

async function publicNames(): Promise<string[]> {
  const sender = new CallbackSender({ resolve });
  const [, arrived] = await taking(async () => {
    await post(sender, urlOf('hooks.example.com'));
    await post(sender, 'https://8.8.8.8:8443/');
    await post(sender, 'https://[2606:4700::1111]:8443/');
  });
  sender.close();
  return arrived;
}

async function rebinding(): Promise<[PostResult[], string[]]> {
  let asked = 0;
  const sender = new CallbackSender({
    resolve: () => Promise.resolve(resolved((asked += 1) === 1 ? PUBLIC : '169.254.169.254')),
  });
  const outcome = await taking(async () => {
    const url = urlOf('rebinding.example.com');
    return [await post(sender, url), await post(sender, url), await post(sender, url)];
  });
  sender.close();
  return outcome;
}

for (const port of PORTS) await listen(port);
const { reached: arrived, notRefused } = await guarded();
const [results, rebindingReached] = await rebinding();
const report: ClosedNetworkReport = {
  tried: ALL_URLS.length,
  reached: arrived,
  notRefused,
  reachedWithoutGuard: await unguarded(),
  answering: await answeringAddresses(),
  publicReached: await publicNames(),
  rebindingReached,
  rebinding: results,
};
process.stdout.write(JSON.stringify(report), () => process.exit(0));
