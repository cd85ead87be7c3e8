// Makes the bundle that Claude Desktop takes: one file with `svc mcp` and all it needs. Run by `npm run bundle`, which packs the
// package first; with a path it takes that package instead. `--here` leaves out the databases of other machines.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { packExtension } from '@anthropic-ai/mcpb';
import { tsImport } from 'tsx/esm/api';

/** Where Claude Desktop runs and `svc` does. */
const PLATFORMS = ['darwin-arm64', 'darwin-x64', 'linux-arm64-gnu', 'linux-x64-gnu'];
const PROGRAM = 'server/node_modules/svc-agents/dist/svc.cjs';

const { values, positionals } = parseArgs({
  options: { here: { type: 'boolean' }, out: { type: 'string' } },
  allowPositionals: true,
});
const { name, version, description, keywords, license, engines, os } = json('package.json');
const { operations } = await tsImport('./shared/operations/index.ts', import.meta.url);

/** https://github.com/modelcontextprotocol/mcpb/blob/main/MANIFEST.md */
const manifest = {
  manifest_version: '0.3',
  name,
  display_name: 'svc',
  version,
  description,
  long_description:
    'Webhooks, mails and decisions in one inbox; people to ask; values, files and mail; and a ledger of every write. Without the settings below it keeps all of it on this machine. With them it works in a project of a gateway.',
  author: { name: 'svc' },
  license,
  keywords,
  server: {
    type: 'node',
    entry_point: PROGRAM,
    mcp_config: {
      command: 'node',
      args: [`\${__dirname}/${PROGRAM}`, 'mcp', '--client', 'claude-desktop'],
      env: { SVC_GATEWAY: '${user_config.gateway}', SVC_API_KEY: '${user_config.api_key}' },
    },
  },
  user_config: {
    gateway: {
      type: 'string',
      title: 'Gateway',
      description:
        'The address of a gateway, such as https://svc.example.com. Empty: this machine.',
      default: '',
      required: false,
    },
    api_key: {
      type: 'string',
      title: 'API key',
      description: 'A key of the project at that gateway: svc key create. Empty: this machine.',
      default: '',
      sensitive: true,
      required: false,
    },
  },
  tools: operations
    .filter(({ mcp }) => mcp)
    .map((operation) => ({ name: operation.name, description: operation.summary })),
  compatibility: { platforms: os, runtimes: { node: engines.node } },
};

const work = mkdtempSync(join(tmpdir(), 'svc-bundle-'));
const folder = join(work, 'bundle');
try {
  install(positionals[0] ?? pack());
  writeFileSync(join(folder, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  const outputPath = resolve(values.out ?? `${name}-${version}.mcpb`);
  if (!(await packExtension({ extensionPath: folder, outputPath, silent: true }))) {
    throw new Error('The bundle was refused; `npx mcpb validate` says why.');
  }
  process.stdout.write(`${outputPath}\n`);
} finally {
  rmSync(work, { recursive: true, force: true });
}

function json(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function npm(args, cwd) {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Builds and packs this checkout, as `npm publish` would. */
function pack() {
  const packed = npm(['pack', '--silent', '--pack-destination', work], '.');
  return join(work, packed.trim().split('\n').at(-1));
}

/** Installs the package and the databases of all machines: a bundle is one file for all of them. */
function install(tarball) {
  const server = join(folder, 'server');
  mkdirSync(server, { recursive: true });
  writeFileSync(join(server, 'package.json'), '{ "private": true }\n');
  const { optionalDependencies } = json('node_modules/libsql/package.json');
  const others = values.here
    ? []
    : PLATFORMS.map(
        (platform) => `@libsql/${platform}@${optionalDependencies[`@libsql/${platform}`]}`,
      );
  const args = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--no-save', '--force'];
  npm([...args, resolve(tarball), ...others], server);
}
