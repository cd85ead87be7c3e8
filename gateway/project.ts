import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../shared/clock.ts';
import type { EventReady, ProjectInfo, Vault } from '../shared/context.ts';
import type { LedgerEntry } from '../shared/rules/ledger-chain.ts';
import { keyedDigest } from '../shared/rules/ledger-chain.ts';
import type { WriteTx } from '../shared/store/driver.ts';
import { ProjectStore, type Repositories } from '../shared/store/project-store.ts';
import type { SourceRow } from '../shared/store/sources.ts';
import { FileBlobStore } from './blob-store.ts';
import { Waits } from './waits.ts';

/** What a project needs of the gateway it is open in. */
export interface ProjectHost {
  readonly dataFolder: string;
  readonly vault: Vault;
  readonly clock: Clock;
  /** Asks for upkeep of the project at this time or before. */
  atLatest(projectId: string, dueAt: number): void;
  readonly onFatal: (error: unknown) => void;
}

/** Something the service did by itself, as the ledger records it. */
interface ServiceAction {
  readonly op: string;
  readonly subject: string | null;
  readonly inputDigest?: string;
}

/** A source ready to check deliveries, its secret opened. */
export interface OpenSource {
  readonly row: SourceRow;
  readonly secret: string | null;
}

/** An open project: its store, its blobs, its waits and the key of its digests. */
export class Project {
  readonly info: ProjectInfo;
  readonly store: ProjectStore;
  readonly blobs: FileBlobStore;
  readonly waits = new Waits();
  /** Sources by their hook token, read once; emptied whenever a source changes. */
  readonly sourceCache = new Map<string, OpenSource>();
  readonly #host: ProjectHost;
  readonly #ledgerKey: Uint8Array;

  private constructor(
    info: ProjectInfo,
    store: ProjectStore,
    host: ProjectHost,
    ledgerKey: Uint8Array,
  ) {
    this.info = info;
    this.store = store;
    this.#host = host;
    this.#ledgerKey = ledgerKey;
    this.blobs = new FileBlobStore(join(projectFolder(host, info.id), 'blobs'));
  }

  static async open(info: ProjectInfo, host: ProjectHost): Promise<Project> {
    const folder = projectFolder(host, info.id);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const store = ProjectStore.openEmbedded(join(folder, 'project.db'), info.id, host.onFatal);
    return new Project(info, store, host, await loadLedgerKey(store, info.id, host.vault));
  }

  /** HMAC under a key of this project: low-entropy content cannot be guessed from its digest. */
  digest(value: unknown): string {
    return keyedDigest(this.#ledgerKey, value);
  }

  /** Appends what the service did by itself to the ledger, in the transaction that did it. */
  async record(store: Repositories, action: ServiceAction, now: number): Promise<void> {
    const note: Omit<LedgerEntry, 'seq' | 'at' | 'prev_hash' | 'hash'> = {
      op: action.op,
      agent: null,
      platform: null,
      key_id: null,
      subject: action.subject,
      request_id: null,
      outcome: 'ok',
      code: null,
      input_digest: action.inputDigest ?? null,
      result_digest: null,
    };
    await store.ledger.append(note, now);
  }

  /** Tells waits about an event once the transaction is durable. */
  announce(tx: WriteTx, change: EventReady): void {
    tx.afterCommit(() => this.waits.notify(change));
  }

  atLatest(dueAt: number): void {
    this.#host.atLatest(this.info.id, dueAt);
  }

  async close(): Promise<void> {
    this.waits.close();
    await this.store.close();
  }
}

function projectFolder(host: ProjectHost, projectId: string): string {
  return join(host.dataFolder, 'projects', projectId);
}

async function loadLedgerKey(
  store: ProjectStore,
  projectId: string,
  vault: Vault,
): Promise<Uint8Array> {
  const place = `meta|${projectId}|ledger_key|value`;
  const stored = await store.read((repositories) => repositories.meta.get('ledger_key'));
  if (stored instanceof Uint8Array) return vault.open(place, stored);
  const key = randomBytes(32);
  await store.write((repositories) => repositories.meta.set('ledger_key', vault.seal(place, key)));
  return key;
}
