import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../../../cli/run.ts';
import type { Credentials } from '../../../daemon/credentials.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { TextSink } from '../fake-output.ts';

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A machine whose commands run in this process, without a terminal. */
export class Machine {
  readonly #folder = temporaryFolder();
  readonly home = this.#folder.path;
  readonly credentialsFile = join(this.home, 'credentials.json');

  async svc(
    argv: readonly string[],
    more: { readonly env?: NodeJS.ProcessEnv; readonly signal?: AbortSignal } = {},
  ): Promise<Ran> {
    const [stdout, stderr] = [new TextSink(), new TextSink()];
    const env = { SVC_HOME: this.home, ...more.env };
    const signal = more.signal ?? new AbortController().signal;
    const code = await run(argv, { env, stdout, stderr, signal });
    return { code, stdout: stdout.text, stderr: stderr.text };
  }

  get credentials(): Credentials {
    return JSON.parse(readFileSync(this.credentialsFile, 'utf8')) as Credentials;
  }

  store(credentials: Credentials): void {
    writeFileSync(this.credentialsFile, JSON.stringify(credentials), { mode: 0o600 });
  }

  /** As a running daemon writes it. */
  runsFor(project: string, pid = process.pid): void {
    const record = { pid, instance: 'x', state: 'ready', project };
    writeFileSync(join(this.home, 'daemon.json'), JSON.stringify(record));
  }

  /** Access rights of the credentials file. */
  get mode(): number {
    return statSync(this.credentialsFile).mode & 0o777;
  }

  /** The sign-ins that wait on it. */
  get pending(): string[] {
    try {
      return readdirSync(join(this.home, 'logins'));
    } catch {
      return [];
    }
  }

  remove(): void {
    this.#folder.remove();
  }
}
