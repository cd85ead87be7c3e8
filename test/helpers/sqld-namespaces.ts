import { randomBytes } from 'node:crypto';

/** Two addresses of a libSQL server that already runs, for HTTP and for its admin API; none by default. */
const RUNNING = process.env['SVC_TEST_SQLD_AT']?.split(' ');

/** Databases of one test on libSQL's own server, apart from those of other tests. */
export class SqldNamespaces {
  /** For SVC_DATABASE_URL. */
  readonly url: string;
  /** For SVC_DATABASE_CREATE_URL. */
  readonly createUrl: string;

  private constructor(http: string, admin: string) {
    const prefix = randomBytes(4).toString('hex');
    this.url = `${http}/dev/${prefix}-{project}`;
    this.createUrl = `${admin}/v1/namespaces/${prefix}-{project}/create`;
  }

  /** Null if no server runs for the tests: no package contains one. */
  static onRunning(): SqldNamespaces | null {
    const [http, admin] = RUNNING ?? [];
    return http !== undefined && admin !== undefined ? new SqldNamespaces(http, admin) : null;
  }

  urlOf(name: string): string {
    return this.url.replace('{project}', name);
  }

  /** Creates a database that syncs each commit. */
  async create(name: string): Promise<void> {
    const response = await fetch(this.createUrl.replace('{project}', name), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"durability_mode":"strong"}',
    });
    if (!response.ok) throw new Error(`sqld: ${response.status} ${await response.text()}`);
  }
}
