import { fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

/** What a database has, in short; for comparing copies. */
export interface Content {
  readonly integrity: string;
  readonly rows: readonly (readonly [name: string, head: string, chars: number])[];
}

export interface Replica {
  /** Its content once it's up to date, or the error. */
  sync(): Promise<Content | { error: string }>;
  /** Keeps it up to date until `sync`. */
  follow(): void;
  end(): Promise<void>;
}

/** A stock replica of `item (name, value)` at `path`, which may be there already. */
export function startReplica(path: string, url: string): Replica {
  const child = fork(resolve('test/helpers/replica-client.mjs'), [path, url], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const exit = once(child, 'exit');
  return {
    async sync() {
      child.send('sync');
      const died = exit.then(([code, signal]) => [{ error: `It ended: ${signal ?? code}` }]);
      const [answer] = (await Promise.race([once(child, 'message'), died])) as [Content];
      return answer;
    },
    follow: () => void child.send('follow'),
    async end() {
      if (child.connected) child.disconnect();
      await exit;
    },
  };
}
