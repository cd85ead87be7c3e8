import { AccountStore } from './control/accounts.ts';
import { LoginStore } from './control/logins.ts';
import { MailboxStore } from './control/mailboxes.ts';
import { RestStore } from './control/rests.ts';
import type { Reader, Row, Writer } from './driver.ts';
import { POSITION_SQL } from './meta.ts';
import { migrate } from './migrate.ts';
import { EmbeddedReader } from './reader.ts';
import { EmbeddedWriter } from './writer.ts';

/** A project as the gateway knows it before its database is opened. */
export interface ProjectRecord extends Row {
  id: string;
  slug: string;
  name: string;
  state: 'reserved' | 'active';
  created_at: string;
}

const COLUMNS = 'id, slug, name, state, created_at';
const ALL = `SELECT ${COLUMNS} FROM project ORDER BY created_at, id`;

/**
 * The control database. It cannot commit together with a project's: a project is reserved here, made there, confirmed
 * here, and each step may be repeated.
 */
export class ControlStore {
  readonly accounts: AccountStore;
  readonly logins: LoginStore;
  readonly mailboxes: MailboxStore;
  readonly rests: RestStore;
  readonly #reader: Reader;
  readonly #writer: Writer;

  constructor(path: string, onFatal: (error: unknown) => void) {
    const options = { positionSql: POSITION_SQL, onFatal };
    this.#writer = new EmbeddedWriter(path, options, (connection) =>
      migrate(connection, 'control'),
    );
    this.#reader = new EmbeddedReader(path);
    this.accounts = new AccountStore(this.#reader, this.#writer);
    this.logins = new LoginStore(this.#reader, this.#writer);
    this.mailboxes = new MailboxStore(this.#reader, this.#writer);
    this.rests = new RestStore(this.#reader, this.#writer);
  }

  findProject(id: string): Promise<ProjectRecord | undefined> {
    return this.#reader.read((tx) =>
      tx.get<ProjectRecord>(`SELECT ${COLUMNS} FROM project WHERE id = ?`, [id]),
    );
  }

  findProjectBySlug(slug: string): Promise<ProjectRecord | undefined> {
    return this.#reader.read((tx) =>
      tx.get<ProjectRecord>(`SELECT ${COLUMNS} FROM project WHERE slug = ?`, [slug]),
    );
  }

  projects(): Promise<ProjectRecord[]> {
    return this.#reader.read((tx) => tx.all<ProjectRecord>(ALL));
  }

  async reserveProject(project: Omit<ProjectRecord, 'state'>): Promise<void> {
    await this.#writer.write((tx) =>
      tx.run(`INSERT INTO project (${COLUMNS}) VALUES (?, ?, ?, 'reserved', ?)`, [
        project['id'] as string,
        project['slug'] as string,
        project['name'] as string,
        project['created_at'] as string,
      ]),
    );
  }

  async confirmProject(id: string): Promise<void> {
    await this.#writer.write((tx) =>
      tx.run("UPDATE project SET state = 'active' WHERE id = ?", [id]),
    );
  }

  async close(): Promise<void> {
    await this.#reader.close();
    await this.#writer.close();
  }
}

/** The projects in a copy of the control database in which nobody writes. */
export async function projectsIn(path: string): Promise<ProjectRecord[]> {
  const reader = new EmbeddedReader(path, { readOnly: true });
  try {
    return await reader.read((tx) => tx.all<ProjectRecord>(ALL));
  } finally {
    await reader.close();
  }
}
