import { randomBytes } from 'node:crypto';
import { systemClock } from '../../shared/lib/clock.ts';
import type { Vault } from '../../shared/kernel/context.ts';
import type { BaseCopy, ReplicationPosition } from '../../shared/store/driver.ts';
import type { OpenWriterOptions } from '../../shared/store/open.ts';
import { ProjectReader, ProjectWriter } from '../../shared/store/project-store.ts';
import type { Repositories } from '../../shared/store/repositories.ts';
import { ledgerKeyAad, LedgerWriter } from './ledger-writer.ts';
import { createVault } from '../lib/vault.ts';
import type { Effect, Job, Command } from './job.ts';
import { commands, type InputOf, type OutputOf, type CommandName } from './commands.ts';
import { BODIES_MAX, BODIES_MAX_SHARED, RecentBodies } from './recent-bodies.ts';
import { Routing } from './open-routes.ts';
import type { OpenWrites, WritableProject, Writers, WritersOptions } from './writers.ts';

/** Runs the transactions in this thread. */
export class InProcessWriters implements Writers {
  readonly #options: WritersOptions;
  readonly #vault: Vault;
  readonly #ownsThread: boolean;
  readonly #busy = new Busy();
  readonly #clock = systemClock();

  /** `ownsThread`: the thread does nothing else, so a single busy project may block it while the disk works. */
  constructor(options: WritersOptions, ownsThread = false) {
    this.#options = options;
    this.#vault = createVault(options.masterKey);
    this.#ownsThread = ownsThread;
  }

  async open(
    project: WritableProject,
    onCommitted: (effects: readonly Effect[]) => void,
  ): Promise<InProcessWrites> {
    const { server, onFatal } = this.#options;
    const { info, location, pinHolder = null, isMade = false } = project;
    const isShared = location.kind === 'remote';
    const bodies = new RecentBodies(isShared ? BODIES_MAX_SHARED : BODIES_MAX);
    const routing = new Routing();
    const options: OpenWriterOptions = {
      onFatal,
      isMade,
      onForeign: () => {
        bodies.readOn();
        routing.forget();
        onCommitted([{ kind: 'foreign' }]);
      },
      onUndone: () => bodies.undo(),
      // The commit may have happened: waiting callers read the rows again, and due work runs.
      onUncertain: () => onCommitted([{ kind: 'foreign' }, { kind: 'due', at: 0 }]),
      mayBlock: () => this.#ownsThread && this.#busy.projects <= 1,
      replication: {
        now: () => this.#clock.now(),
        onReplication: (replication) => {
          bodies.keep();
          onCommitted([{ kind: 'committed', replication }]);
        },
      },
    };
    const writer = await ProjectWriter.open(location, info.id, options, pinHolder);
    const ledgerKey = await loadLedgerKey(writer, project, this.#vault);
    onCommitted([{ kind: 'committed', replication: writer.replication }]);
    const ledgerWriter = new LedgerWriter(ledgerKey);
    const parts = { project: info, server, vault: this.#vault, ledgerWriter, bodies, routing };
    return new InProcessWrites(writer, ledgerKey, {
      parts,
      onCommitted,
      busy: this.#busy,
      isFar: isShared,
    });
  }

  async close(): Promise<void> {
    // Callers close each project that they opened.
  }
}

/** Counts the running jobs of each project. */
class Busy {
  readonly #jobs = new Map<string, number>();

  get projects(): number {
    return this.#jobs.size;
  }

  started(projectId: string): void {
    this.#jobs.set(projectId, (this.#jobs.get(projectId) ?? 0) + 1);
  }

  ended(projectId: string): void {
    const left = (this.#jobs.get(projectId) ?? 0) - 1;
    if (left > 0) this.#jobs.set(projectId, left);
    else this.#jobs.delete(projectId);
  }
}

interface WritesDeps {
  readonly parts: Omit<Job, 'store' | 'emit'>;
  readonly onCommitted: (effects: readonly Effect[]) => void;
  readonly busy: Busy;
  /** The database is on a server, so round trips are slow. */
  readonly isFar: boolean;
}

/** The write side of a project that is open in this thread. */
export class InProcessWrites implements OpenWrites {
  readonly writer: ProjectWriter;
  readonly ledgerKey: Uint8Array;
  readonly #deps: WritesDeps;

  constructor(writer: ProjectWriter, ledgerKey: Uint8Array, deps: WritesDeps) {
    this.writer = writer;
    this.ledgerKey = ledgerKey;
    this.#deps = deps;
  }

  async run<N extends CommandName>(name: N, input: InputOf<N>): Promise<OutputOf<N>> {
    const { run, onError, sizeBytes, ahead } = commands[name] as unknown as Command<
      InputOf<N>,
      OutputOf<N>
    >;
    const { parts, onCommitted, busy, isFar } = this.#deps;
    const projectId = parts.project.id;
    let effects: Effect[] = [];
    const job = (store: Repositories): Job => {
      // A job may run twice: its first run was rolled back, and so were that run's effects.
      effects = [];
      const emit = (effect: Effect): void => {
        if (effect.kind === 'callbacks_changed') parts.routing.changed(store);
        effects.push(effect);
      };
      return { store, emit, ...parts };
    };
    busy.started(projectId);
    try {
      const output = await this.writer.write((store) => run(job(store), input), {
        ...(sizeBytes && { sizeBytes: sizeBytes(input) }),
        ...(ahead && isFar && { ahead: ahead(input) }),
        ...(onError && {
          onError: (store: Repositories, error: unknown) => onError(job(store), input, error),
        }),
      });
      if (effects.length > 0) onCommitted(effects);
      return output;
    } finally {
      busy.ended(projectId);
    }
  }

  follow(): Promise<ReplicationPosition> {
    return this.writer.follow();
  }

  copyBase(): Promise<BaseCopy> {
    return this.writer.copyBase();
  }

  rotate(): Promise<void> {
    return this.writer.rotate();
  }

  close(): Promise<void> {
    return this.writer.close();
  }
}

async function loadLedgerKey(
  writer: ProjectWriter,
  { info, location }: WritableProject,
  vault: Vault,
): Promise<Uint8Array> {
  const aad = ledgerKeyAad(info.id);
  const reader = await ProjectReader.open(location, info.id);
  const stored = await reader.read((store) => store.meta.get('ledger_key'));
  await reader.close();
  if (stored instanceof Uint8Array) return vault.open(aad, stored);
  const fresh = vault.seal(aad, randomBytes(32));
  const sealed = await writer.write(async ({ meta }) => {
    // Another gateway may have created the key since the read.
    const known = await meta.get('ledger_key');
    if (known instanceof Uint8Array) return known;
    await meta.set('ledger_key', fresh);
    return fresh;
  });
  return vault.open(aad, sealed);
}
