import { AccountStore } from './control/accounts.ts';
import { ChatStore } from './control/chats.ts';
import { DeletionStore } from './control/deletions.ts';
import { GatewayStore } from './control/gateways.ts';
import { InvitationStore } from './control/invitations.ts';
import { LoginStore } from './control/logins.ts';
import { MailUseStore } from './control/mail-use.ts';
import { MailboxStore } from './control/mailboxes.ts';
import { MembershipStore } from './control/memberships.ts';
import { MoveStore } from './control/moves.ts';
import type { ProjectState } from './control/project-state.ts';
import { IdleMarkerStore } from './control/idle-markers.ts';
import { UiSessionStore } from './control/ui-sessions.ts';
import type { Reader, Row, Writer } from '../../shared/store/engine/driver.ts';
import type { DatabaseLocation } from '../../shared/store/engine/location.ts';
import { MetaRepository } from '../../shared/store/tables/meta.ts';
import { openReader, openWriter } from '../../shared/store/engine/open.ts';
import type { FileDamage } from '../../shared/store/sums/sum-keeper.ts';
import { EmbeddedReader } from '../../shared/store/engine/reader.ts';

/** What the gateway knows about a project before it opens the project's database. */
export interface ProjectRecord extends Row {
  id: string;
  slug: string;
  name: string;
  state: ProjectState;
  created_at: string;
}

const COLUMNS = 'id, slug, name, state, created_at';
const ALL = `SELECT ${COLUMNS} FROM project ORDER BY created_at, id`;

/**
 * The control database. It can't commit together with a project's database, so a project is reserved here, created
 * there and confirmed here, and each step can be repeated.
 */
export class ControlStore {
  readonly accounts: AccountStore;
  readonly chats: ChatStore;
  readonly deletions: DeletionStore;
  readonly gateways: GatewayStore;
  readonly invitations: InvitationStore;
  readonly logins: LoginStore;
  readonly mailUse: MailUseStore;
  readonly mailboxes: MailboxStore;
  readonly memberships: MembershipStore;
  readonly moves: MoveStore;
  readonly idleMarkers: IdleMarkerStore;
  readonly uiSessions: UiSessionStore;
  readonly #reader: Reader;
  readonly #writer: Writer;

  private constructor(reader: Reader, writer: Writer) {
    this.#reader = reader;
    this.#writer = writer;
    this.accounts = new AccountStore(this.#reader, this.#writer);
    this.chats = new ChatStore(this.#reader, this.#writer);
    this.deletions = new DeletionStore(this.#writer);
    this.gateways = new GatewayStore(this.#reader, this.#writer);
    this.invitations = new InvitationStore(this.#reader, this.#writer);
    this.logins = new LoginStore(this.#reader, this.#writer);
    this.mailUse = new MailUseStore(this.#writer);
    this.mailboxes = new MailboxStore(this.#reader, this.#writer);
    this.memberships = new MembershipStore(this.#reader, this.#writer);
    this.moves = new MoveStore(this.#reader, this.#writer);
    this.idleMarkers = new IdleMarkerStore(this.#reader, this.#writer);
    this.uiSessions = new UiSessionStore(this.#reader, this.#writer);
  }

  /** Opens the database and creates it if it's missing. */
  static async open(
    location: DatabaseLocation,
    onFatal: (error: unknown) => void,
    onDamage: (damage: FileDamage) => void = () => undefined,
  ): Promise<ControlStore> {
    // Everything relies on this database, so nothing else can go on while it's copied again.
    const onOutdated = (): void =>
      onFatal(
        new Error('The copy of the control database is out of date. A restart makes a new one.'),
      );
    const writer = await openWriter(location, 'control', { onFatal, onOutdated, onDamage });
    try {
      const reader = await openReader(location);
      return new ControlStore(location.kind === 'file' ? reader : upToDate(reader, writer), writer);
    } catch (error) {
      await writer.close();
      throw error;
    }
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
      tx.put(`INSERT INTO project (${COLUMNS}) VALUES (?, ?, ?, 'reserved', ?)`, [
        project['id'] as string,
        project['slug'] as string,
        project['name'] as string,
        project['created_at'] as string,
      ]),
    );
  }

  async confirmProject(id: string): Promise<void> {
    await this.#writer.write((tx) =>
      tx.put("UPDATE project SET state = 'active' WHERE id = ? AND state = 'reserved'", [id]),
    );
  }

  async renameProject(id: string, name: string): Promise<void> {
    await this.#writer.write((tx) =>
      tx.put('UPDATE project SET name = ? WHERE id = ?', [name, id]),
    );
  }

  /** Returns the sample sealed with the master key of the first gateway; stores `fresh` if there is none yet. */
  keySample(fresh: Uint8Array): Promise<Uint8Array> {
    return this.#writer.write(async (tx) => {
      const row = await tx.get("SELECT value FROM meta WHERE name = 'key_sample'");
      if (row?.['value'] instanceof Uint8Array) return row['value'];
      await tx.put("INSERT INTO meta (name, value) VALUES ('key_sample', ?)", [fresh]);
      return fresh;
    });
  }

  /** Returns the stored sample, or null. */
  storedSample(): Promise<Uint8Array | null> {
    return sampleOf(this.#reader);
  }

  /** Stores where files are kept from now on; returns where they were kept until now, or null if that's unknown. */
  async noteBlobsLocation(location: string): Promise<string | null> {
    const before = await this.#reader.read((tx) => new MetaRepository(tx).get('blobs_place'));
    if (before !== location) {
      await this.#writer.write((tx) => new MetaRepository(tx).set('blobs_place', location));
    }
    return typeof before === 'string' ? before : null;
  }

  async close(): Promise<void> {
    await this.#reader.close();
    await this.#writer.close();
  }
}

/** Reads a mirror after it has taken in everything that any gateway has committed. */
function upToDate(reader: Reader, writer: Writer): Reader {
  return {
    async read(fn) {
      await writer.catchUp();
      return reader.read(fn);
    },
    close: () => reader.close(),
  };
}

/** Lists the projects in a copy of the control database that no process writes to. */
export async function projectsIn(path: string): Promise<ProjectRecord[]> {
  const reader = new EmbeddedReader(path, { readOnly: true });
  try {
    return await projectsOf(reader);
  } finally {
    await reader.close();
  }
}

/**
 * Returns the sample that identifies the master key of the secrets, even while another process has the database open;
 * null if there is none.
 */
export async function keySampleIn(path: string): Promise<Uint8Array | null> {
  const reader = new EmbeddedReader(path, { readOnly: true });
  try {
    return await sampleOf(reader);
  } finally {
    await reader.close();
  }
}

export function projectsOf(reader: Reader): Promise<ProjectRecord[]> {
  return reader.read((tx) => tx.all<ProjectRecord>(ALL));
}

/** See `keySampleIn`. */
export async function sampleOf(reader: Reader): Promise<Uint8Array | null> {
  const value = await reader.read((tx) => new MetaRepository(tx).get('key_sample'));
  return value instanceof Uint8Array ? value : null;
}
