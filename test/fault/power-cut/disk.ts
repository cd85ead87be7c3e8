import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Contents, type Change } from './contents.ts';
import type { LogRecord } from './shim.ts';

/** An unsynced change, and when it was made. */
type PendingChange = Change & { readonly at: number };

/** A file, whatever its names are. */
export class DiskFile {
  /** What no power cut takes away. */
  sure = new Contents();
  /** What has happened to it since, in order. */
  pending: PendingChange[] = [];

  sync(upTo: number): void {
    const count = this.pending.findIndex(({ at }) => at > upTo);
    const done = this.pending.splice(0, count === -1 ? this.pending.length : count);
    for (const change of done) this.sure.apply(change);
  }
}

export class DiskFolder {
  /** The names that no power cut takes away. */
  readonly sure = new Map<string, DiskNode>();
  readonly now = new Map<string, DiskNode>();
}

export type DiskNode = DiskFile | DiskFolder;

/** A change of names. The disk has it whole or not at all, even if it spans two folders. */
export interface NameChange {
  readonly at: number;
  /** The entries it reads or changes. A later change of one of them depends on it. */
  readonly entries: readonly { readonly folder: DiskFolder; readonly name: string }[];
  readonly apply: (names: (folder: DiskFolder) => Map<string, DiskNode>) => void;
}

/**
 * A folder on disk, rebuilt from a process's log: synced data, and data that isn't yet. As in POSIX, only syncing the
 * folder syncs a name; real file systems promise more.
 */
export class Disk {
  readonly root = new DiskFolder();
  readonly #path: string;
  readonly #nodes = new Map<bigint, DiskNode>();
  readonly #syncs = new Map<string, number>();
  #names: NameChange[] = [];
  #at = 0;

  /** Starts from the folder's current contents. */
  constructor(path: string) {
    this.#path = path;
    this.#load(path, this.root);
  }

  /** Of files that have a name, or may have one after a power cut. */
  get pendingNames(): readonly NameChange[] {
    return this.#names;
  }

  /** How many records it has been told. */
  get applied(): number {
    return this.#at;
  }

  apply(record: LogRecord): void {
    this.#at += 1;
    if ('WTBSF'.includes(record.op)) this.#applyToBytes(record);
    else if ('CDRLU'.includes(record.op)) this.#applyToNames(record);
  }

  #applyToBytes({ op, inode, offset, data }: LogRecord): void {
    const node = this.#nodes.get(inode);
    if (!node) return;
    const sync = `${inode} ${offset}`;
    if (op === 'B') this.#syncs.set(sync, this.#at);
    else if (op === 'S') this.#sync(node, this.#syncs.get(sync) ?? 0);
    else if (node instanceof DiskFolder) return;
    else if (op === 'W') node.pending.push({ at: this.#at, offset, bytes: data });
    else if (op === 'T') node.pending.push({ at: this.#at, length: offset });
    // The kernel marks pages clean even if it couldn't write them, so a later sync skips them.
    else node.pending = [];
  }

  #sync(node: DiskNode, upTo: number): void {
    if (node instanceof DiskFile) return node.sync(upTo);
    for (const change of this.#names) {
      if (change.at > upTo) break;
      if (change.entries.some(({ folder }) => folder === node)) this.#makeSure(change);
    }
  }

  /** Syncs a change and those it depends on. */
  #makeSure(change: NameChange): void {
    if (!this.#names.includes(change)) return;
    const before = this.#names.filter((one) => one.at < change.at && sharesEntry(one, change));
    for (const one of before) this.#makeSure(one);
    change.apply((folder) => folder.sure);
    this.#names = this.#names.filter((one) => one !== change);
  }

  #applyToNames(record: LogRecord): void {
    const change = this.#nameChange(record);
    if (!change) return;
    change.apply((folder) => folder.now);
    this.#names = [...this.#names, change];
  }

  #nameChange({ op, inode, path, other }: LogRecord): NameChange | null {
    const place = this.#find(path);
    if (!place) return null;
    const { folder, name } = place;
    if (op === 'C' || op === 'D') {
      const node = op === 'C' ? new DiskFile() : new DiskFolder();
      this.#nodes.set(inode, node);
      const apply: NameChange['apply'] = (names) => names(folder).set(name, node);
      return { at: this.#at, entries: [place], apply };
    }
    // The shim doesn't watch it, for example a socket.
    if (!folder.now.has(name)) return null;
    if (op === 'U') {
      return { at: this.#at, entries: [place], apply: (names) => names(folder).delete(name) };
    }
    const target = this.#find(other);
    if (!target) return null;
    const apply: NameChange['apply'] = (names) => {
      const node = names(folder).get(name);
      if (!node) return;
      if (op === 'R') names(folder).delete(name);
      names(target.folder).set(target.name, node);
    };
    return { at: this.#at, entries: [place, target], apply };
  }

  #find(path: string): { folder: DiskFolder; name: string } | null {
    const parts = path.slice(this.#path.length + 1).split('/');
    const name = parts.pop() ?? '';
    let folder = this.root;
    for (const part of parts) {
      const next = folder.now.get(part);
      if (!(next instanceof DiskFolder)) return null;
      folder = next;
    }
    return { folder, name };
  }

  #load(path: string, folder: DiskFolder): void {
    this.#nodes.set(statSync(path, { bigint: true }).ino, folder);
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const inside = join(path, entry.name);
      if (entry.isDirectory()) this.#load(inside, enter(folder, entry.name, new DiskFolder()));
      if (!entry.isFile()) continue;
      const file = enter(folder, entry.name, new DiskFile());
      file.sure = new Contents(readFileSync(inside));
      this.#nodes.set(statSync(inside, { bigint: true }).ino, file);
    }
  }
}

function enter<T extends DiskNode>(folder: DiskFolder, name: string, node: T): T {
  folder.sure.set(name, node);
  folder.now.set(name, node);
  return node;
}

export function sharesEntry(one: NameChange, other: NameChange): boolean {
  return one.entries.some(({ folder, name }) =>
    other.entries.some((entry) => entry.folder === folder && entry.name === name),
  );
}
