import { SyncClient } from './sync-client.ts';
import { prepareCopy } from '../serve/prepare.ts';
import { ReplicaFolder } from './replica-folder.ts';
import type { PrepareResult, SyncAnswer, SyncRequest } from './messages.ts';

// The database client blocks while it opens, and its native code may abort its process, so it gets its own process.
// This never closes anything: a close would change the log. A signal ends the process.
process.umask(0o077);

let client: SyncClient | null = null;

async function perform(request: SyncRequest): Promise<PrepareResult | null> {
  switch (request.kind) {
    case 'prepare':
      return prepareCopy(new ReplicaFolder(request.folder));
    case 'open': {
      const { databasePath } = new ReplicaFolder(request.folder);
      client = new SyncClient(databasePath, request.syncUrl, request.token);
      return null;
    }
    case 'sync':
      if (!client) throw new Error('The copy is not open.');
      await client.sync();
      return null;
  }
}

function answer(message: SyncAnswer): void {
  process.send?.(message, undefined, undefined, () => undefined);
}

process.on('message', (request: SyncRequest) => {
  const { id } = request;
  perform(request).then(
    (value) => answer({ id, ok: true, value }),
    (error: unknown) =>
      answer({ id, ok: false, message: error instanceof Error ? error.message : String(error) }),
  );
});

// The daemon has ended, for any reason.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
