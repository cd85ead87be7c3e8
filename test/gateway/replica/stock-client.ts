import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** The client blocks its thread while it asks, and may abort its process: so it has one of its own. */
const PROGRAM = `
  import Libsql from 'libsql';
  let database, file;
  process.on('message', ({ path, syncUrl, authToken, sql }) => {
    try {
      if (path) database = new Libsql((file = path), { syncUrl, authToken });
      else if (!sql) database.sync();
      // The client sends pragmas to its server, where they are refused.
      const asked = sql?.startsWith('PRAGMA') ? new Libsql(file) : database;
      process.send({ rows: sql ? asked.prepare(sql).all([]).map(Object.values) : [] });
    } catch (error) {
      process.send({ error: error.message });
    }
  });
  process.on('disconnect', () => process.exit());`;

interface Wanted {
  /** Of the file, which is made when it is not there. */
  readonly path: string;
  readonly syncUrl: string;
  readonly authToken: string;
}

type Reply = { readonly rows: unknown[][] } | { readonly error: string };

/** A replica as libSQL's own client keeps it, in a process. */
export class StockClient {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Rejects with what the client says when it cannot begin. */
  static async open(wanted: Wanted): Promise<StockClient> {
    const args = ['--input-type=module', '--eval', PROGRAM];
    const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const;
    const client = new StockClient(spawn(process.execPath, args, { stdio: [...stdio] }));
    try {
      await client.#ask(wanted);
    } catch (error) {
      await client.stop();
      throw error;
    }
    return client;
  }

  /** Rejects with what the client says. */
  async sync(): Promise<void> {
    await this.#ask({});
  }

  async rows(sql: string): Promise<unknown[][]> {
    return this.#ask({ sql });
  }

  /** The first column of the first row. */
  async value(sql: string): Promise<unknown> {
    return (await this.rows(sql))[0]?.[0];
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
  }

  async #ask(question: Partial<Wanted> & { sql?: string }): Promise<unknown[][]> {
    const done = new AbortController();
    const { signal } = done;
    const gone = once(this.#child, 'exit', { signal }).then(([code, by]): Reply => ({
      error: `The client ended with ${String(code ?? by)}.`,
    }));
    const answered = once(this.#child, 'message', { signal }).then(([reply]) => reply as Reply);
    // The one that is not waited for any more rejects.
    void Promise.allSettled([answered, gone]);
    this.#child.send(question);
    const reply = await Promise.race([answered, gone]);
    done.abort();
    if ('error' in reply) throw new Error(reply.error);
    return reply.rows;
  }
}
