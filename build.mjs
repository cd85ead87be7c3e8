// Bundles the executable and its processes into dist/. Run by `npm run build`, and by `npm ci` through `dependencies`.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { tsImport } from 'tsx/esm/api';
import { buildClient } from './clients/typescript/build.mjs';

rmSync('dist', { recursive: true, force: true });

const { writeClientFiles } = await tsImport('./cli/shapes/client-files.ts', import.meta.url);
writeClientFiles();

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

const THIRD_PARTY = 'dist/third-party.txt';

/**
 * What these modules export, written out: the shapes of operations and what commands declare, so that the command starts
 * without schemas and without its commands; and the scripts of the pages, which are files of their own.
 */
const MADE_AT_BUILD =
  /[/](?:cli[/]shapes[/](?:operations|declarations)|gateway[/]web[/]browser[/]scripts)\.ts$/;
const atBuild = {
  name: 'at-build',
  setup({ onLoad }) {
    onLoad({ filter: MADE_AT_BUILD }, async ({ path }) => {
      const { default: _, ...exported } = await tsImport(path, import.meta.url);
      const lines = Object.entries(exported).map(
        ([name, value]) => `export const ${name} = ${JSON.stringify(value)};`,
      );
      return { contents: lines.join('\n') };
    });
  },
};

const common = { bundle: true, platform: 'node', target: 'node20.19', logLevel: 'warning' };
const WITH_PACKAGES = `/* Contains packages of other authors. Their licences are in ${THIRD_PARTY} */`;
const withPackages = { metafile: true, banner: { js: WITH_PACKAGES } };

/**
 * Our processes are our own code only: packages run as their authors ship them, out of node_modules. What is imported late
 * lies in files of its own, so that its packages are loaded late as well. The exceptions are below: packages that install much
 * more than we use of them.
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
    'replica-child': 'daemon/replica/sync/child.ts',
    scrub: 'gateway/scrub/scrub-main.ts',
  },
  plugins: [atBuild],
});

/** The thread that reads mails holds what it uses of mailauth, which would install 50 more packages. */
const reader = await build({
  ...common,
  metafile: true,
  format: 'esm',
  external: ['postal-mime'],
  entryPoints: ['gateway/mail/inbound/reader/reader-main.ts'],
  outfile: 'dist/mail-reader.js',
  // The packages inside are CommonJS and take what is Node's own by `require`.
  banner: {
    js: `${WITH_PACKAGES}
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);`,
  },
});

/** The writer thread checks nothing against schemas, so it does without the package: see the module that replaces it. */
const names = Object.keys(await import('zod')).filter((name) => name !== 'default');
const withoutSchemas = {
  name: 'without-schemas',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^zod$/ }, () => ({ path: 'zod', namespace: 'no-schemas' }));
    onLoad({ filter: /.*/, namespace: 'no-schemas' }, () => ({
      contents: `import anything from './gateway/commit/thread/no-schemas.ts';
        export { ${names.map((name) => `anything as ${name}`).join(', ')} };`,
      resolveDir: import.meta.dirname,
    }));
  },
};

await build({
  ...ofProcess,
  entryPoints: { writer: 'gateway/commit/thread/thread-main.ts' },
  plugins: [withoutSchemas],
});

// The command is one CommonJS file with everything in it, in plain ASCII: Node starts that fastest, and on Node 20 it is
// the only kind that can be kept compiled. `import()` doesn't work in code that is run that way: `require` takes its place.
// Only `--jq` needs jq, which is loaded from node_modules.
const command = {
  ...common,
  format: 'cjs',
  supported: { 'dynamic-import': false },
  external: ['jq-wasm'],
  // Its other form finds its own files in a way that no bundler follows.
  alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
};

/** What `svc mcp` takes from the SDK, and no other command. */
const SDK_MODULES = ['client/streamableHttp.js', 'server/stdio.js', 'types.js'].map(
  (path) => `@modelcontextprotocol/sdk/${path}`,
);

/** Relative to the executable. */
const SDK_FILE = './code/mcp-sdk.cjs';

/** A file of its own instead of the package, which would install 89 more, with a web server. */
const sdk = await build({
  ...command,
  ...withPackages,
  stdin: {
    contents: SDK_MODULES.map((path) => `export * from '${path}';`).join('\n'),
    resolveDir: import.meta.dirname,
  },
  outfile: join('dist', SDK_FILE),
  minify: true,
});

const withSdkBeside = {
  name: 'with-sdk-beside',
  setup({ onResolve }) {
    onResolve({ filter: /^@modelcontextprotocol\/sdk\// }, ({ path }) =>
      SDK_MODULES.includes(path) ? { path: SDK_FILE, external: true } : null,
    );
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

const cli = await build({
  ...command,
  ...withPackages,
  entryPoints: ['cli/main.ts'],
  outfile: 'dist/code/cli.cjs',
  minify: true,
  plugins: [atBuild, withoutPrograms, withSdkBeside],
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

/** The licences of all packages that lie in these files. */
function licencesOf(...bundles) {
  const paths = bundles.flatMap(({ metafile }) => Object.keys(metafile.inputs));
  const folders = paths.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []);
  return [...new Set(folders)].toSorted().map((folder) => {
    const released = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find((path) => /^licen[cs]e/i.test(path));
    if (file === undefined) throw new Error(`${folder} has no licence to hand on.`);
    return `${released.name} ${released.version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  });
}

writeFileSync(THIRD_PARTY, licencesOf(reader, cli, sdk).join(`\n${'-'.repeat(80)}\n\n`));

// Found beside the processes as they are beside the source.
cpSync('shared/store/migrations', 'dist/migrations', { recursive: true });

/** The plugin for Claude Code and Codex: the folder as it is, with the skill and this version. */
cpSync('plugin', 'dist/plugin', { recursive: true });
cpSync('SKILL.md', 'dist/plugin/svc/skills/svc/SKILL.md', { dereference: true });
for (const client of ['claude', 'codex']) {
  const path = `dist/plugin/svc/.${client}-plugin/plugin.json`;
  const manifest = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, `${JSON.stringify({ ...manifest, version }, null, 2)}\n`);
}

// Run once against nothing, so that what every command needs is compiled and kept. It exits with "unreachable".
try {
  execFileSync(process.execPath, ['dist/svc.cjs', 'inbox', 'list'], {
    env: { PATH: process.env.PATH, SVC_HOME: '/nonexistent' },
    stdio: 'ignore',
  });
} catch {
  // Expected: there is no daemon there.
}
