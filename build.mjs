// Bundles the executable and its processes into dist/. Run by `npm run build`, and by `npm ci` through `prepare`.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';

rmSync('dist', { recursive: true, force: true });

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const common = {
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  logLevel: 'warning',
  legalComments: 'none',
};

/** The thread that writes checks nothing against schemas, so it does without the package: see the module put in its place. */
const names = Object.keys(await import('zod')).filter((name) => name !== 'default');
const withoutSchemas = {
  name: 'without-schemas',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^zod$/ }, () => ({ path: 'zod', namespace: 'no-schemas' }));
    onLoad({ filter: /.*/, namespace: 'no-schemas' }, () => ({
      contents: `import anything from './gateway/writes/no-schemas.ts';
        export { ${names.map((name) => `anything as ${name}`).join(', ')} };`,
      resolveDir: import.meta.dirname,
    }));
  },
};

await Promise.all([
  // CommonJS and one file of plain ASCII, with everything inside: the fastest thing for Node 20 to start.
  build({
    ...common,
    entryPoints: ['cli/main.ts'],
    outfile: 'dist/cli.cjs',
    format: 'cjs',
    minify: true,
    // The executable runs it as a script, where `import()` does not work: `require` is put in its place.
    supported: { 'dynamic-import': false },
  }),
  // The processes keep their packages outside: libsql is native, and one copy of the others serves all.
  build({
    ...common,
    entryPoints: {
      daemon: 'daemon/main.ts',
      gateway: 'gateway/main.ts',
      'gateway-admin': 'gateway/admin/main.ts',
      'replica-child': 'daemon/replica/child.ts',
      'mail-reader': 'gateway/mail/inbound/reader/reader-main.ts',
    },
    outdir: 'dist',
    format: 'esm',
    // What is loaded on demand stays apart.
    splitting: true,
    packages: 'external',
    sourcemap: true,
  }),
  build({
    ...common,
    entryPoints: { writer: 'gateway/writes/thread-main.ts' },
    outdir: 'dist',
    format: 'esm',
    external: ['libsql', 'libsql/*'],
    plugins: [withoutSchemas],
    sourcemap: true,
  }),
]);

// Found beside the bundle as they are beside the source.
cpSync('shared/store/migrations', 'dist/migrations', { recursive: true });

// The executable: answers --version by itself, otherwise runs the bundle with the code that V8 compiled before.
// V8 ignores a cache of another version of itself, so it can only be of no use, never wrong.
writeFileSync(
  'dist/svc.cjs',
  `#!/usr/bin/env node
'use strict';
const args = process.argv;
if (args.length === 3 && (args[2] === '--version' || args[2] === '-V')) {
  process.stdout.write('${version}\\n');
} else {
  const { readFileSync } = require('node:fs');
  const { Script } = require('node:vm');
  const filename = __dirname + '/cli.cjs';
  const source =
    '(function (exports, require, module, __filename, __dirname) { ' +
    readFileSync(filename, 'latin1') +
    '\\n})';
  let cachedData;
  try {
    cachedData = readFileSync(__dirname + '/cli.cache');
  } catch {
    // Only slower without it.
  }
  const script = new Script(source, { filename, cachedData });
  script.runInThisContext()(exports, require, module, filename, __dirname);
  if (process.env.SVC_BUILD_CACHE) {
    process.once('exit', () =>
      require('node:fs').writeFileSync(process.env.SVC_BUILD_CACHE, script.createCachedData()),
    );
  }
}
`,
);
chmodSync('dist/svc.cjs', 0o755);

// Run once against nothing, so that what every command needs is compiled into the cache. It exits with "unreachable".
try {
  execFileSync(process.execPath, ['dist/svc.cjs', 'inbox', 'list'], {
    env: { PATH: process.env.PATH, SVC_HOME: '/nonexistent', SVC_BUILD_CACHE: 'dist/cli.cache' },
    stdio: 'ignore',
  });
} catch {
  // Expected: there is no daemon there.
}
