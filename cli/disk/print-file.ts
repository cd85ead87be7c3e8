import { once } from 'node:events';
import { tmpdir } from 'node:os';
import type { CommandContext } from '../command.ts';
import { showProgress } from './progress.ts';
import { receiveFile } from './receive.ts';
import type { FetchedFile } from './remote-disk.ts';
import { FileSource } from './source.ts';
import { namelessFile } from './spool.ts';
import { writeAll } from './write-all.ts';

/** Prints only a complete, verified download, so the bytes wait in a temporary file until then. */
export async function printFile(context: CommandContext, file: FetchedFile): Promise<void> {
  const { output, signal } = context;
  const waiting = await namelessFile();
  try {
    await receive(context, file, (bytes) => writeAll(waiting, bytes, tmpdir()));
    const source = await FileSource.of(tmpdir(), waiting);
    for await (const chunk of source.chunks()) {
      output.bytes(chunk);
      // Don't buffer what a slow reader hasn't taken yet.
      if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain', { signal });
    }
  } finally {
    await waiting.close();
  }
}

/** Receives a file with its progress on the terminal. */
export async function receive(
  context: CommandContext,
  file: FetchedFile,
  write: (bytes: Uint8Array) => Promise<void>,
) {
  const { signal } = context;
  const progress = showProgress(context, file.path, file.sizeBytes);
  try {
    const received = await receiveFile(file, { write, meter: progress, signal });
    signal.throwIfAborted();
    return received;
  } finally {
    progress.end();
  }
}
