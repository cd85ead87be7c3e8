// Bundles the executable and its processes into dist/. Run by `npm run build`, and by `npm ci` through `prepare`.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

rmSync('dist', { recursive: true, force: true });

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

/** Each bundle with what it begins at. */
const BUNDLES = {
  cli: 'cli/main.ts',
  daemon: 'daemon/main.ts',
  gateway: 'gateway/main.ts',
  'gateway-admin': 'gateway/admin/main.ts',
  'replica-child': 'daemon/replica/child.ts',
  'mail-reader': 'gateway/mail/inbound/reader/reader-main.ts',
  writer: 'gateway/writes/thread-main.ts',
};

// CommonJS and files of plain ASCII, with all packages inside: the fastest thing for Node to start, and the only one
// whose compiled code can be kept on Node 20. Libsql alone stays outside, as it is native.
const common = {
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  format: 'cjs',
  external: ['libsql', 'libsql/*'],
  // It is run as a script, where `import()` does not work: `require` is put in its place.
  supported: { 'dynamic-import': false },
  legalComments: 'none',
  logLevel: 'warning',
};

/** Names found beside a bundle are as they are beside its start, which stands one folder above. */
const HERE = {
  define: { 'import.meta.url': 'startUrl' },
  banner: { js: "const startUrl = require('node:url').pathToFileURL(__filename).href;" },
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

/** The code of a bundle. That of processes keeps its names, which the stacks in their logs show. */
function buildCode(name) {
  return build({
    ...common,
    entryPoints: { [name]: BUNDLES[name] },
    outdir: 'dist/code',
    metafile: true,
    ...(name === 'cli' ? { minify: true } : { minifyWhitespace: true, ...HERE }),
    ...(name === 'writer' && { plugins: [withoutSchemas] }),
  });
}

/** The licenses of all packages inside, which they ask to be passed on. */
function licensesOf(builds) {
  const inputs = builds.flatMap(({ metafile }) => Object.keys(metafile.inputs));
  const folders = inputs.flatMap((path) => {
    const inside = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path);
    return inside ? [inside[1]] : [];
  });
  const texts = [...new Set(folders)].toSorted().map((folder) => {
    const { name, version: its, license } = JSON.parse(readFileSync(join(folder, 'package.json')));
    const file = readdirSync(folder).find((one) => /^licen[cs]e|^copying/i.test(one));
    const text = file === undefined ? '' : `\n\n${readFileSync(join(folder, file), 'utf8').trim()}`;
    return `${name} ${its} (${license})${text}\n`;
  });
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}

/** The executable answers --version by itself, as that is asked for often. */
const VERSION_ANSWER = `#!/usr/bin/env node
if (process.argv.length === 3 && (process.argv[2] === '--version' || process.argv[2] === '-V')) {
  process.stdout.write('${version}\\n');
  return;
}`;

/** What is run: it loads the code, with what was compiled of it before. */
function buildStart(name) {
  const digest = createHash('sha256')
    .update(readFileSync(`dist/code/${name}.js`))
    .digest('hex');
  return build({
    ...common,
    entryPoints: ['shared/bundle/start.ts'],
    outfile: name === 'cli' ? 'dist/svc.cjs' : `dist/${name}.js`,
    define: { BUNDLE_NAME: JSON.stringify(name), BUNDLE_DIGEST: JSON.stringify(digest) },
    ...(name === 'cli' && { banner: { js: VERSION_ANSWER } }),
  });
}

const made = await Promise.all(Object.keys(BUNDLES).map(buildCode));
await Promise.all(Object.keys(BUNDLES).map(buildStart));

writeFileSync('dist/THIRD-PARTY-LICENSES.txt', licensesOf(made));

// The package is of modules, what is built is not.
writeFileSync('dist/package.json', '{ "type": "commonjs" }\n');
chmodSync('dist/svc.cjs', 0o755);

// Found beside the starts as they are beside the source.
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
