import { dirname } from 'node:path';
import type { CommandContext, Declaration } from '../../command.ts';
import { printFile, receive } from '../../disk/print-file.ts';
import { PartFile, type LocalTarget } from '../../disk/part-file.ts';
import { targetFor } from '../../disk/local-target.ts';
import { RemoteDisk, type FetchedFile } from '../../disk/remote-disk.ts';
import { typedPath } from '../../disk/typed-path.ts';
import { EXIT } from '../../exit.ts';
import { switchOption, textArgument } from '../../input/option-values.ts';

export const declaration: Declaration = {
  summary: 'Download a file from the disk.',
  description:
    'Checks the size and SHA-256 before saving, so a broken download leaves nothing behind. In a pipe, prints where the file is; with -, prints its bytes instead.',
  args: [
    {
      name: 'path',
      required: true,
      summary: 'The stored file: a path or a `disk://` reference.',
      stored: 'files',
    },
    {
      name: 'file',
      required: false,
      summary:
        'Where to save it: a file, a folder, or - for standard output (default: same name, current folder).',
      stored: 'paths',
    },
  ],
  options: [{ flag: 'force', summary: 'Overwrite an existing file.' }],
  examples: [
    'file get reports/may.pdf',
    'file get reports/may.pdf /tmp/ --force',
    'file get data/users.csv - | head',
  ],
  seeAlso: ['file put', 'file list', 'file url'],
};

/** `svc file get`: downloads a stored file to a local file or to standard output. */
export async function run(context: CommandContext): Promise<number> {
  const path = typedPath(textArgument(context, 'path') ?? '');
  const given = textArgument(context, 'file');
  const disk = new RemoteDisk(context.client(), context.signal);
  if (given === '-') {
    await printFile(context, await disk.get(path));
    return EXIT.done;
  }
  // Checks the target before downloading. A file that appears there meanwhile isn't replaced either.
  const target = await targetFor(given, path, switchOption(context, 'force'));
  const { sizeBytes, sha256 } = await save(context, await disk.get(path), target);
  context.output.answer({ path, file: target.name, size_bytes: sizeBytes, sha256 });
  return EXIT.done;
}

async function save(context: CommandContext, file: FetchedFile, target: LocalTarget) {
  const part = await PartFile.in(dirname(target.target), target.name);
  try {
    const received = await receive(context, file, (bytes) => part.write(bytes));
    await part.become(target);
    return received;
  } finally {
    await part.discard();
  }
}
