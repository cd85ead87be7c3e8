// Bundles the executable and its processes into dist/. Run by `npm run build`, and by `npm ci` through `dependencies`.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, readFileSync, rmSync } from 'node:fs';
import { build } from 'esbuild';
import { tsImport } from 'tsx/esm/api';
import { buildClient } from './clients/typescript/build.mjs';

rmSync('dist', { recursive: true, force: true });

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

const common = { bundle: true, platform: 'node', target: 'node20.19', logLevel: 'warning' };

/**
 * Our processes are our own code only: packages run as their authors ship them, out of node_modules. What is imported late
 * lies in files of its own, so that its packages are loaded late as well.
 */
const ofProcess = {
  ...common,
  format: 'esm',
  packages: 'external',
  splitting: true,
  outdir: 'dist',
};

await build({
  ...ofProcess,
  entryPoints: {
    daemon: 'daemon/main.ts',
    gateway: 'gateway/main.ts',
    'gateway-admin': 'gateway/admin/main.ts',
    'replica-child': 'daemon/replica/child.ts',
    scrub: 'gateway/scrub/scrub-main.ts',
    'mail-reader': 'gateway/mail/inbound/reader/reader-main.ts',
  },
});

/** The writer thread checks nothing against schemas, so it does without the package: see the module that replaces it. */
const names = Object.keys(await import('zod')).filter((name) => name !== 'default');
const withoutSchemas = {
  name: 'without-schemas',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^zod$/ }, () => ({ path: 'zod', namespace: 'no-schemas' }));
    onLoad({ filter: /.*/, namespace: 'no-schemas' }, () => ({
      contents: `import anything from './gateway/commit/no-schemas.ts';
        export { ${names.map((name) => `anything as ${name}`).join(', ')} };`,
      resolveDir: import.meta.dirname,
    }));
  },
};

await build({
  ...ofProcess,
  entryPoints: { writer: 'gateway/commit/thread-main.ts' },
  plugins: [withoutSchemas],
});

// The command is one CommonJS file with everything in it, in plain ASCII: Node starts that fastest, and on Node 20 it is
// the only kind that can be kept compiled. `import()` doesn't work in code that is run that way: `require` takes its place.
// Only `svc mcp` needs the SDK and only `--jq` needs jq; both are loaded from node_modules.
const command = {
  ...common,
  format: 'cjs',
  supported: { 'dynamic-import': false },
  external: ['@modelcontextprotocol/sdk/*', 'jq-wasm'],
};

/** The shapes of operations and what commands declare, written out: the command starts without schemas and without its commands. */
const atBuild = {
  name: 'at-build',
  setup({ onLoad }) {
    onLoad({ filter: /[/]cli[/]shapes[/](?:operations|declarations)\.ts$/ }, async ({ path }) => {
      const { default: _, ...exported } = await tsImport(path, import.meta.url);
      const lines = Object.entries(exported).map(
        ([name, value]) => `export const ${name} = ${JSON.stringify(value)};`,
      );
      return { contents: lines.join('\n') };
    });
  },
};

/** Commander can run programs as its commands. Ours are not programs, and loading what runs them takes 3 ms. */
const withoutPrograms = {
  name: 'without-programs',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:child_process$/ }, ({ importer }) =>
      importer.includes('/node_modules/commander/')
        ? { path: 'programs', namespace: 'no-programs' }
        : null,
    );
    onLoad({ filter: /.*/, namespace: 'no-programs' }, () => ({ contents: '' }));
  },
};

await build({
  ...command,
  entryPoints: ['cli/main.ts'],
  outfile: 'dist/code/cli.cjs',
  minify: true,
  plugins: [atBuild, withoutPrograms],
  banner: { js: '/* Contains commander, (c) 2011 TJ Holowaychuk, MIT: see its LICENSE */' },
});

/**
 * The executable answers --version by itself, as that is asked for often. It says where it can't run before it loads anything
 * that fails there.
 */
const BEFORE_THE_CODE = `#!/usr/bin/env node
const { platform, versions } = process;
const [major, minor] = versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write('svc: This is Node ' + versions.node + '. Install Node 20.19 or newer.\\n');
  process.exit(1);
}
if (platform !== 'linux' && platform !== 'darwin') {
  process.stderr.write('svc: svc runs on Linux and macOS, not on ' + platform + '. On Windows, run it in WSL: https://learn.microsoft.com/windows/wsl/install\\n');
  process.exit(1);
}
if (process.argv.length === 3 && (process.argv[2] === '--version' || process.argv[2] === '-V')) {
  process.stdout.write('${version}\\n');
  return;
}`;

/** What is run: it loads the code, with what was compiled of it before. */
const digest = createHash('sha256').update(readFileSync('dist/code/cli.cjs')).digest('hex');
await build({
  ...command,
  entryPoints: ['cli/start.ts'],
  outfile: 'dist/svc.cjs',
  define: { CODE_DIGEST: JSON.stringify(digest) },
  banner: { js: BEFORE_THE_CODE },
});
chmodSync('dist/svc.cjs', 0o755);

await buildClient(common);

// Found beside the processes as they are beside the source.
cpSync('shared/store/migrations', 'dist/migrations', { recursive: true });

// Run once against nothing, so that what every command needs is compiled and kept. It exits with "unreachable".
try {
  execFileSync(process.execPath, ['dist/svc.cjs', 'inbox', 'list'], {
    env: { PATH: process.env.PATH, SVC_HOME: '/nonexistent' },
    stdio: 'ignore',
  });
} catch {
  // Expected: there is no daemon there.
}
