import { randomBytes } from 'node:crypto';
import { systemClock } from '../../../shared/lib/clock.ts';
import type { Vault } from '../../../shared/kernel/context.ts';
import type {
  BaseCopy,
  FollowedLog,
  ReplicationPosition,
  Tx,
  Writer,
} from '../../../shared/store/engine/driver.ts';
import { openWriter, type OpenWriterOptions } from '../../../shared/store/engine/open.ts';
import { ProjectReader } from '../../../shared/store/project-store.ts';
import { Repositories } from '../../../shared/store/repositories.ts';
import { ledgerKeyAad, LedgerWriter } from '../context/ledger-writer.ts';
import { createVault } from '../../lib/vault.ts';
import type { Effect, Job, Command } from '../context/job.ts';
import { commands, type InputOf, type OutputOf, type CommandName } from '../commands.ts';
import { BODIES_MAX, RecentBodies } from '../context/recent-bodies.ts';
import { Routing } from '../context/open-routes.ts';
import type { WritableProject, Writers, WritersOptions } from './writers.ts';

/** A project that is open for writing in this thread. */
interface OpenProject {
  /** Where its commands are queued, and committed in groups. */
  readonly queue: Writer & FollowedLog;
  readonly parts: Omit<Job, 'store' | 'emit'>;
  readonly store: (tx: Tx) => Repositories;
  readonly onCommitted: (effects: readonly Effect[]) => void;
  /** Commands under way. */
  running: number;
}

/** Runs the transactions in this thread. */
export class InProcessWriters implements Writers {
  readonly #options: WritersOptions;
  readonly #vault: Vault;
  readonly #ownsThread: boolean;
  readonly #open = new Map<string, OpenProject>();
  readonly #clock = systemClock();
  /** How many projects have commands running. */
  #busy = 0;

  /** `ownsThread`: the thread does nothing else, so a single busy project may block it while the disk works. */
  constructor(options: WritersOptions, ownsThread = false) {
    this.#options = options;
    this.#vault = createVault(options.masterKey);
    this.#ownsThread = ownsThread;
  }

  async open(
    project: WritableProject,
    onCommitted: (effects: readonly Effect[]) => void,
  ): Promise<Uint8Array> {
    const { server, onFatal } = this.#options;
    const { info, location, pinHolder = null, isMade = false } = project;
    const bodies = new RecentBodies(BODIES_MAX);
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
      onUncertain: () =>
        onCommitted([{ kind: 'uncertain' }, { kind: 'foreign' }, { kind: 'due', at: 0 }]),
      onDamage: (damage) => onCommitted([{ kind: 'damaged', damage }]),
      onOutdated: () => onCommitted([{ kind: 'outdated' }]),
      mayBlock: () => this.#ownsThread && this.#busy <= 1,
      replication: {
        now: () => this.#clock.now(),
        archiveBytes: server.replicaLogBytes ?? null,
        onReplication: (replication) => {
          bodies.keep();
          onCommitted([{ kind: 'committed', replication }]);
        },
      },
    };
    const queue = await openWriter(location, 'project', options);
    const ledgerKey = await loadLedgerKey(queue, project, this.#vault).catch(async (error) => {
      await queue.close();
      throw error;
    });
    onCommitted([{ kind: 'committed', replication: queue.replication }]);
    const ledgerWriter = new LedgerWriter(ledgerKey);
    const parts = { project: info, server, vault: this.#vault, ledgerWriter, bodies, routing };
    const store = (tx: Tx): Repositories => new Repositories(tx, info.id, pinHolder);
    this.#open.set(info.id, { queue, parts, store, onCommitted, running: 0 });
    return ledgerKey;
  }

  async run<N extends CommandName>(
    projectId: string,
    name: N,
    input: InputOf<N>,
  ): Promise<OutputOf<N>> {
    const project = this.opened(projectId);
    const { run, onError, sizeBytes } = commands[name] as unknown as Command<
      InputOf<N>,
      OutputOf<N>
    >;
    const { queue, parts, onCommitted } = project;
    let effects: Effect[] = [];
    const job = (tx: Tx): Job => {
      // A job may run twice: its first run was rolled back, and so were that run's effects.
      effects = [];
      const store = project.store(tx);
      const emit = (effect: Effect): void => {
        if (effect.kind === 'callbacks_changed') parts.routing.changed(store);
        effects.push(effect);
      };
      return { store, emit, ...parts };
    };
    if (project.running === 0) this.#busy += 1;
    project.running += 1;
    try {
      const output = await queue.write((tx) => run(job(tx), input), {
        ...(sizeBytes && { sizeBytes: sizeBytes(input) }),
        ...(onError && { onError: (tx: Tx, error: unknown) => onError(job(tx), input, error) }),
      });
      if (effects.length > 0) onCommitted(effects);
      return output;
    } finally {
      project.running -= 1;
      if (project.running === 0) this.#busy -= 1;
    }
  }

  async follow(projectId: string): Promise<ReplicationPosition> {
    return this.opened(projectId).queue.follow();
  }

  async copyBase(projectId: string): Promise<BaseCopy> {
    return this.opened(projectId).queue.copyBase();
  }

  async catchUp(projectId: string): Promise<void> {
    return this.opened(projectId).queue.catchUp();
  }

  async rotate(projectId: string): Promise<void> {
    return this.opened(projectId).queue.rotate();
  }

  async closeProject(projectId: string): Promise<void> {
    const { queue } = this.opened(projectId);
    this.#open.delete(projectId);
    await queue.close();
  }

  async close(): Promise<void> {
    // Callers close each project that they opened.
  }

  opened(projectId: string): OpenProject {
    const project = this.#open.get(projectId);
    if (!project) throw new Error(`${projectId} is not open for writing.`);
    return project;
  }
}

async function loadLedgerKey(
  queue: Writer,
  { info, location }: WritableProject,
  vault: Vault,
): Promise<Uint8Array> {
  const aad = ledgerKeyAad(info.id);
  const reader = await ProjectReader.open(location, info.id);
  const stored = await reader.read((store) => store.meta.get('ledger_key'));
  await reader.close();
  if (stored instanceof Uint8Array) return vault.open(aad, stored);
  const fresh = vault.seal(aad, randomBytes(32));
  const sealed = await queue.write(async (tx) => {
    const { meta } = new Repositories(tx, info.id);
    // Another gateway may have created the key since the read.
    const known = await meta.get('ledger_key');
    if (known instanceof Uint8Array) return known;
    await meta.set('ledger_key', fresh);
    return fresh;
  });
  return vault.open(aad, sealed);
}
