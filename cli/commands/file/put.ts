import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { FILE_MAX_BYTES } from '../../../shared/lib/limits.ts';
import type { CommandContext, Declaration } from '../../command.ts';
import { contentTypeOf } from '../../disk/content-type.ts';
import { localFault, localRefusal, tooLarge, unreadable } from '../../disk/faults.ts';
import { showProgress } from '../../disk/progress.ts';
import { RemoteDisk } from '../../disk/remote-disk.ts';
import { sendFile } from '../../disk/send.ts';
import { FileSource, type Source } from '../../disk/source.ts';
import { spool } from '../../disk/spool.ts';
import { typedPath } from '../../disk/typed-path.ts';
import { usageError } from '../../errors.ts';
import { EXIT } from '../../exit.ts';
import { isSendable } from '../../call/header.ts';
import { textArgument, textOption } from '../../input/option-values.ts';

export const declaration: Declaration = {
  summary: 'Upload a file to the disk.',
  description:
    'Uploads up to 100 MB and checks the SHA-256 of the saved file. Replaces any file at the same path and ends its links. If the file changes while svc reads it, or nothing comes from a pipe, svc saves nothing.',
  args: [
    {
      name: 'file',
      required: true,
      summary: 'The file to upload, or - for standard input.',
      stored: 'paths',
    },
    {
      name: 'path',
      required: false,
      summary: 'Where to store it (default: the file name); required with -.',
    },
  ],
  options: [
    {
      flag: 'content-type',
      value: 'TYPE',
      summary: "The media type, such as text/csv (default: from the path's extension).",
    },
  ],
  writes: true,
  examples: [
    'file put report.pdf',
    'file put build/report.pdf reports/may.pdf',
    'file put - backups/shop.sql < shop.sql',
    'file put data.bin exports/data --content-type text/csv',
  ],
};

type Stream = AsyncIterable<Uint8Array>;

const STANDARD_INPUT = 'Standard input';

/** `svc file put`: uploads a local file or standard input. */
export function run(context: CommandContext): Promise<number> {
  return putFile(context, () => standardInput(context.signal));
}

/** `run` with a replaceable standard input. */
export async function putFile(context: CommandContext, stdin: () => Stream): Promise<number> {
  const { output, signal, tries } = context;
  const file = textArgument(context, 'file') ?? '';
  const path = pathFor(file, textArgument(context, 'path'));
  const contentType = (textOption(context, 'content-type') ?? contentTypeOf(path)).trim();
  if (!isSendable('content-type', contentType) || contentType === '') {
    throw usageError(
      "--content-type isn't a valid header value.",
      'For example: --content-type text/csv',
    );
  }
  const disk = new RemoteDisk(context.client(), signal);
  const source = await sourceOf(context, file, stdin);
  const progress = showProgress(context, path, source.sizeBytes);
  try {
    const answer = await sendFile({
      disk,
      path,
      contentType,
      source,
      meter: progress,
      signal,
      tries,
    });
    progress.end();
    output.answer(answer);
    return EXIT.done;
  } finally {
    progress.end();
    await source.close();
  }
}

/** Without a path, or with a path that ends in /, the file keeps its name. */
function pathFor(file: string, given: string | undefined): string {
  if (given !== undefined && !given.endsWith('/')) return typedPath(given);
  if (file !== '-') return typedPath((given ?? '') + basename(file));
  throw usageError(
    'Uploads from standard input need a path.',
    'For example: svc file put - notes/today.md',
  );
}

async function sourceOf(
  context: CommandContext,
  file: string,
  stdin: () => Stream,
): Promise<Source> {
  if (file === '-') return spooled(context, STANDARD_INPUT, stdin());
  const kind = await named(file, stat(file));
  if (kind.isDirectory()) {
    throw usageError(`"${file}" is a folder.`, `Upload its files: svc file sync ${file} PREFIX`);
  }
  // Refused before the file is opened and before any call.
  if (kind.size > FILE_MAX_BYTES) throw tooLarge(`"${file}"`, kind.size);
  // A pipe, such as `<(command)` in a shell.
  if (!kind.isFile()) return spooled(context, `"${file}"`, fromPipe(file, context.signal));
  return FileSource.of(file, await named(file, open(file)));
}

async function named<T>(file: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw unreadable(error, file);
  }
}

async function spooled(context: CommandContext, name: string, stream: Stream): Promise<Source> {
  const progress = showProgress(context, `Reading ${name}`, null);
  try {
    const source = await spool(name, stream, (bytes) => progress.add(bytes));
    // The command in front probably failed, and its last good output may be what the disk has.
    if (source.sizeBytes > 0) return source;
    const hint = 'To save an empty file, name one: svc file put FILE PATH';
    throw localRefusal(`${name} is empty, so svc saved nothing.`, hint);
  } finally {
    progress.end();
  }
}

async function* fromPipe(file: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(file, { signal }) as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw signal.aborted ? error : localFault(error, file, 'read');
  }
}

/** Ends with an error on abort, so that no partial input is sent. */
function standardInput(signal: AbortSignal): Stream {
  const { stdin } = process;
  const end = (): void => void stdin.destroy(new Error('Interrupted.'));
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  return stdin;
}
