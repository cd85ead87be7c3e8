import { build, type Metafile, type Plugin } from 'esbuild';

/** As in the build, which writes the shapes out: nothing of what they are made from is loaded. */
const shapes: Plugin = {
  name: 'shapes',
  setup(bundle) {
    bundle.onLoad({ filter: /\/cli\/shapes\/(?:operations|declarations)\.ts$/ }, () => ({
      contents: 'export const operationShapes = []; export const declarations = [];',
    }));
  },
};

/** What the file of the command is bundled from. */
export async function commandBundle(): Promise<Metafile> {
  const { metafile } = await build({
    entryPoints: ['cli/main.ts'],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    external: ['@modelcontextprotocol/sdk/*', 'jq-wasm'],
    write: false,
    metafile: true,
    logLevel: 'silent',
    plugins: [shapes],
  });
  return metafile;
}
