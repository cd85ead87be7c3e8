import { build } from 'esbuild';
import { expect, it } from 'vitest';

it('loads the IMAP library where there is a mailbox, and nowhere else', async () => {
  const { metafile } = await build({
    entryPoints: ['gateway/mail/inbound/mailbox/mailbox.ts'],
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    outdir: 'out',
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports);
  const kinds = imports.filter(({ path }) => path === 'imapflow').map(({ kind }) => kind);
  expect(kinds).toEqual(['dynamic-import']);
});
