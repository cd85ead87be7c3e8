import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AwsV4Signer } from 'aws4fetch';
import type { S3Config } from '../../gateway/blobs/blobs-config.ts';
import { required } from './require.ts';

/** Debian's own, where its packages are. */
const PYTHON = '/usr/bin/python3';
const READY_WITHIN_MS = 60_000;
/** One process plays all servers: where it rests, a server rests that another one waits for. */
const PATIENCE = ['conn_timeout = 20', 'node_timeout = 60'];
const REGION = 'eu-test-1';
const BUCKET = 'blobs';
const SECRET = 'a-secret-of-the-tests';

/**
 * Account, container, object and proxy server in one process, so they start together and no other program can take a
 * port in between. It ends with the process that started it. Swift asks for a cache but doesn't need one.
 */
const SERVERS = `
import os, sys
import eventlet
eventlet.monkey_patch()
import logging
from eventlet import wsgi
from swift.common import utils
from swift.common.http_protocol import SwiftHttpProtocol
from swift.common.ring import RingBuilder
from swift.common.wsgi import loadapp

folder = sys.argv[1]
utils.set_swift_dir(folder)
sockets = {name: eventlet.listen(('127.0.0.1', 0)) for name in ('account', 'container', 'object', 'proxy')}
for name in ('account', 'container', 'object'):
    port = sockets[name].getsockname()[1]
    ring = RingBuilder(1, 1, 1)
    ring.add_dev({'id': 0, 'region': 1, 'zone': 1, 'device': 'disk', 'weight': 1,
                  'ip': '127.0.0.1', 'port': port,
                  'replication_ip': '127.0.0.1', 'replication_port': port})
    ring.rebalance()
    ring.get_ring().save(os.path.join(folder, name + '.ring.gz'))
log = logging.getLogger('wsgi')
log.addHandler(logging.NullHandler())

class NoCache:
    def get(self, key, **options):
        return None
    def set(self, key, value, **options):
        pass
    def delete(self, key, **options):
        pass

def with_cache(app):
    def serve(env, start_response):
        env['swift.cache'] = NoCache()
        return app(env, start_response)
    return serve

for name, socket in sockets.items():
    app = loadapp(os.path.join(folder, name + '.conf'))
    eventlet.spawn(wsgi.server, socket, with_cache(app), log, protocol=SwiftHttpProtocol,
                   capitalize_response_headers=False)
print(sockets['proxy'].getsockname()[1], flush=True)
eventlet.tpool.execute(sys.stdin.read)
os._exit(0)
`;

/** Whether Swift is installed; if not, it prints a line that says what is skipped. */
export function hasSwift(): boolean {
  return required('blobs in a bucket', canImport(), 'python3-swift is not installed');
}

function canImport(): boolean {
  try {
    execFileSync(PYTHON, ['-c', 'import swift.common.middleware.s3api'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** OpenStack Swift with its S3 interface, in a temporary folder that goes with it: it checks signatures for real. */
export class Swift {
  /** A bucket that is there, with credentials that are let in. */
  readonly place: S3Config;
  readonly #process: ChildProcess;
  readonly #folder: string;

  private constructor(parts: { place: S3Config; process: ChildProcess; folder: string }) {
    this.place = parts.place;
    this.#process = parts.process;
    this.#folder = parts.folder;
  }

  static async start(): Promise<Swift> {
    const folder = mkdtempSync(join(tmpdir(), 'svc-swift-'));
    writeSettings(folder);
    const child = spawn(PYTHON, ['-c', SERVERS, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
    const port = await Promise.race([
      firstLine(child),
      once(child, 'exit').then(() => null),
      new Promise<null>((resolve) => setTimeout(resolve, READY_WITHIN_MS, null).unref()),
    ]);
    const swift = new Swift({ place: placeAt(port ?? '0'), process: child, folder });
    try {
      if (port === null) throw new Error('Swift does not start.');
      await swift.#makeBucket();
      return swift;
    } catch (error) {
      await swift.end();
      throw error;
    }
  }

  async end(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const ended = once(this.#process, 'exit');
      this.#process.kill('SIGKILL');
      await ended;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #makeBucket(): Promise<void> {
    const { endpoint, bucket, credentials } = this.place;
    const url = `${endpoint.origin}/${bucket}`;
    const parts = { method: 'PUT', url, service: 's3', region: REGION, ...credentials };
    const { headers } = await new AwsV4Signer(parts).sign();
    const answer = await fetch(url, { method: 'PUT', headers });
    if (!answer.ok) throw new Error(`Swift makes no bucket: ${answer.status}`);
  }
}

async function firstLine(process: ChildProcess): Promise<string> {
  if (!process.stdout) throw new Error('It has no output.');
  const [line] = (await once(process.stdout, 'data')) as [Buffer];
  return line.toString().trim();
}

function placeAt(port: string): S3Config {
  return {
    kind: 's3',
    bucket: BUCKET,
    endpoint: new URL(`http://127.0.0.1:${port}`),
    region: REGION,
    pathStyle: true,
    credentials: { accessKeyId: 'test:tester', secretAccessKey: SECRET },
  };
}

function writeSettings(folder: string): void {
  const disks = join(folder, 'disks');
  const cache = join(folder, 'cache');
  for (const path of [join(disks, 'disk'), cache]) mkdirSync(path, { recursive: true });
  const write = (name: string, lines: readonly string[]): void => {
    writeFileSync(join(folder, name), `${lines.join('\n')}\n`);
  };
  write('swift.conf', [
    '[swift-hash]',
    'swift_hash_path_prefix = test',
    'swift_hash_path_suffix = test',
    '[storage-policy:0]',
    'name = one',
    'default = yes',
  ]);
  for (const name of ['account', 'container', 'object']) {
    write(`${name}.conf`, [
      '[DEFAULT]',
      `swift_dir = ${folder}`,
      `devices = ${disks}`,
      'mount_check = false',
      'disable_fallocate = true',
      ...PATIENCE,
      'container_update_timeout = 20',
      `recon_cache_path = ${cache}`,
      '[pipeline:main]',
      `pipeline = ${name}-server`,
      `[app:${name}-server]`,
      `use = egg:swift#${name}`,
    ]);
  }
  const filters = ['catch_errors', 'gatekeeper', 's3api', 'tempauth'];
  write('proxy.conf', [
    '[DEFAULT]',
    `swift_dir = ${folder}`,
    ...PATIENCE,
    '[pipeline:main]',
    `pipeline = ${filters.join(' ')} proxy-server`,
    '[filter:catch_errors]',
    'use = egg:swift#catch_errors',
    '[filter:gatekeeper]',
    'use = egg:swift#gatekeeper',
    '[filter:s3api]',
    'use = egg:swift#s3api',
    `location = ${REGION}`,
    // A few objects are several pages.
    'max_bucket_listing = 4',
    '[filter:tempauth]',
    'use = egg:swift#tempauth',
    `user_test_tester = ${SECRET} .admin`,
    '[app:proxy-server]',
    'use = egg:swift#proxy',
    'account_autocreate = true',
  ]);
}
