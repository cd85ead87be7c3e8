import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Contents, type Change } from './contents.ts';
import {
  sharesEntry,
  type Disk,
  type DiskFile,
  DiskFolder,
  type DiskNode,
  type NameChange,
} from './disk.ts';
import type { Random } from './random.ts';

/**
 * What a power cut leaves of unsynced changes: `nothing`, `everything` (as after a kill), or a random part of them.
 */
export type Luck = 'nothing' | 'everything' | 'mixed';

/** Sizes in which disks and systems write. */
const SECTOR_BYTES = 512;
const PAGE_BYTES = 4096;

type Fate = 'dropped' | 'kept' | 'first ones' | 'some';

/** Writes a folder as it may be found when the power is back. */
export function writeImage(disk: Disk, target: string, luck: Luck, random: Random): void {
  const names = new Map<DiskFolder, Map<string, DiskNode>>();
  const namesOf = (folder: DiskFolder): Map<string, DiskNode> => {
    const known = names.get(folder) ?? new Map(folder.sure);
    names.set(folder, known);
    return known;
  };
  for (const change of keptNames(disk.pendingNames, luck, random)) change.apply(namesOf);
  const bytes = new Map<DiskFile, Buffer>();
  const bytesOf = (file: DiskFile): Buffer => {
    const known = bytes.get(file) ?? keptBytes(file, luck, random);
    bytes.set(file, known);
    return known;
  };
  writeFolder(disk.root, target);

  function writeFolder(folder: DiskFolder, path: string): void {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    for (const [name, node] of namesOf(folder)) {
      if (node instanceof DiskFolder) writeFolder(node, join(path, name));
      else writeFileSync(join(path, name), bytesOf(node), { mode: 0o600 });
    }
  }
}

function fateOf(luck: Luck, random: Random): Fate {
  if (luck === 'nothing') return 'dropped';
  if (luck === 'everything') return 'kept';
  return random.of(['dropped', 'kept', 'first ones', 'some', 'some']);
}

function keptNames(changes: readonly NameChange[], luck: Luck, random: Random): NameChange[] {
  const fate = fateOf(luck, random);
  const count = keptCount(fate, changes.length, random);
  const dropped: NameChange[] = [];
  return changes.filter((change, index) => {
    const isKept = fate === 'some' ? random.chance(0.5) : index < count;
    if (isKept && !dropped.some((one) => sharesEntry(one, change))) return true;
    dropped.push(change);
    return false;
  });
}

function keptCount(fate: Fate, length: number, random: Random): number {
  if (fate === 'dropped') return 0;
  return fate === 'first ones' ? random.below(length + 1) : length;
}

function keptBytes(file: DiskFile, luck: Luck, random: Random): Buffer {
  const fate = fateOf(luck, random);
  const { pending } = file;
  const count = keptCount(fate, pending.length, random);
  const contents = new Contents(file.sure.bytes);
  for (const change of pending.slice(0, count)) {
    for (const piece of fate === 'some' ? some(change, random) : [change]) contents.apply(piece);
  }
  // The write that was under way.
  const torn = fate === 'first ones' ? pending[count] : undefined;
  for (const piece of torn ? firstOf(torn, random) : []) contents.apply(piece);
  return contents.bytes;
}

/** The pieces of a change that happened to be written, whatever became of those before it. */
function some(change: Change, random: Random): Change[] {
  const probability = random.of([0.1, 0.5, 0.9]);
  const unit = random.of([SECTOR_BYTES, PAGE_BYTES]);
  return pieces(change, unit).filter(() => random.chance(probability));
}

function firstOf(change: Change, random: Random): Change[] {
  const all = pieces(change, SECTOR_BYTES);
  return all.slice(0, random.below(all.length));
}

/** A change cut at the multiples of a size. */
function pieces(change: Change, unit: number): Change[] {
  if ('length' in change) return [change];
  const { offset, bytes } = change;
  const all: Change[] = [];
  for (let from = 0; from < bytes.length;) {
    const to = Math.min(bytes.length, from + unit - ((offset + from) % unit));
    all.push({ offset: offset + from, bytes: bytes.subarray(from, to) });
    from = to;
  }
  return all;
}
