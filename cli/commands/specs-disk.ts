import type { CommandSpec } from '../command.ts';

const put: CommandSpec = {
  words: ['file', 'put'],
  summary: 'Save a file of this machine on the disk.',
  description:
    'Sends up to 100 MB and checks by SHA-256 that what was saved is what was read. A file that is there under the same path is replaced, and its links end. A file that changes while it is read is not saved.',
  args: [
    {
      name: 'file',
      required: true,
      summary: 'The file to send, or - for standard input.',
      stored: 'paths',
    },
    {
      name: 'path',
      required: false,
      summary: 'Where it is kept (the name of the file); required with -.',
    },
  ],
  options: [
    {
      flag: 'content-type',
      value: 'TYPE',
      summary: 'What it is, such as text/csv (told from the extension of the path).',
    },
  ],
  writes: true,
  examples: [
    'file put report.pdf',
    'file put build/report.pdf reports/may.pdf',
    'file put - backups/shop.sql < shop.sql',
    'file put data.bin exports/data --content-type text/csv',
  ],
  load: () => import('./file-put.ts'),
};

const get: CommandSpec = {
  words: ['file', 'get'],
  summary: 'Fetch a file from the disk.',
  description:
    'Checks size and SHA-256, and only then gives the file its name: what was cut off leaves nothing behind. In a pipe the answer says where the file is; with - its bytes come instead.',
  args: [
    {
      name: 'path',
      required: true,
      summary: 'The stored file, as a path or `disk://` reference.',
      stored: 'files',
    },
    {
      name: 'file',
      required: false,
      summary: 'Where to: a file, a folder, or - for standard output (its own name, here).',
      stored: 'paths',
    },
  ],
  options: [{ flag: 'force', summary: 'Replace a file that is there.' }],
  examples: [
    'file get reports/may.pdf',
    'file get reports/may.pdf /tmp/ --force',
    'file get data/users.csv - | head',
  ],
  load: () => import('./file-get.ts'),
};

const sync: CommandSpec = {
  words: ['file', 'sync'],
  summary: 'Make the disk like a folder, or the folder like the disk.',
  description:
    'Compares by size and SHA-256 and sends only what differs, four files at a time. Links and what is no regular file are left out, with a line each. One file that fails does not stop the others; the exit code is 1 then, and the same command goes on where it ended.',
  args: [
    { name: 'dir', required: true, summary: 'The folder on this machine.', stored: 'paths' },
    { name: 'prefix', required: true, summary: 'The folder on the disk; / is the whole disk.' },
  ],
  options: [
    { flag: 'down', summary: 'From the disk to this machine.' },
    { flag: 'delete', summary: 'Also remove what is not at the source.' },
    { flag: 'dry-run', summary: 'Only show what would be done.' },
  ],
  writes: true,
  examples: [
    'file sync ./site site',
    'file sync ./site site --delete --dry-run',
    'file sync ./restored backups/site --down',
  ],
  load: () => import('./file-sync.ts'),
};

const list: CommandSpec = {
  words: ['file', 'list'],
  summary: 'List stored files in byte order of their paths.',
  description: 'The cursor holds its place while files come and go.',
  args: [
    {
      name: 'prefix',
      required: false,
      summary: 'Only paths that begin so; it may end within a name.',
    },
  ],
  options: [
    { flag: 'cursor', value: 'VALUE', summary: 'The next_cursor of the page before.' },
    { flag: 'limit', value: 'N', summary: 'How many (1 to 100, default 20).' },
  ],
  examples: [
    'file list',
    'file list reports/ --limit 100',
    "file list --json | jq -r '.items[].path'",
  ],
  load: () => import('./file-list.ts'),
};

const usage: CommandSpec = {
  words: ['usage'],
  summary: 'Show how much of its limits the project takes.',
  description: 'The disk with keys, files and open uploads, and what links have sent this month.',
  args: [],
  options: [],
  examples: ['usage', 'usage --json | jq .disk.used_bytes'],
  load: () => import('./usage.ts'),
};

const diskCommands: readonly CommandSpec[] = [put, get, sync, list, usage];

/** All commands, with those of the disk in the place of the generated ones of the same words. */
export function withDiskCommands(generated: readonly CommandSpec[]): CommandSpec[] {
  const own = new Map(diskCommands.map((command) => [nameOf(command), command]));
  const merged = generated.map((command) => {
    const replacement = own.get(nameOf(command));
    own.delete(nameOf(command));
    return replacement ?? command;
  });
  return [...merged, ...own.values()];
}

function nameOf({ words }: CommandSpec): string {
  return words.join(' ');
}
