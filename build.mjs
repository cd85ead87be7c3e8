// Bundles the executable and the daemon into dist/. Run by `npm run build`, and by `npm ci` through `prepare`.
import { cpSync, rmSync } from 'node:fs';
import { build } from 'esbuild';

rmSync('dist', { recursive: true, force: true });

const common = {
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  logLevel: 'warning',
  legalComments: 'none',
};

await Promise.all([
  // CommonJS and one file: the fastest thing for Node 20 to start. Everything it needs is inside.
  build({
    ...common,
    entryPoints: ['cli/main.ts'],
    outfile: 'dist/svc.cjs',
    format: 'cjs',
    minify: true,
    keepNames: false,
    banner: { js: '#!/usr/bin/env node' },
    define: { 'import.meta.url': '__svc_url' },
    inject: [],
    footer: { js: '' },
  }),
  // The daemon keeps its packages outside: libsql is native, and one copy of the others serves all.
  build({
    ...common,
    entryPoints: ['daemon/main.ts'],
    outfile: 'dist/daemon.js',
    format: 'esm',
    packages: 'external',
    sourcemap: true,
  }),
]);

// Found beside the bundle as they are beside the source.
cpSync('shared/store/migrations', 'dist/migrations', { recursive: true });
