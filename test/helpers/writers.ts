import type { Project } from '../../gateway/projects/project.ts';
import type { CommandName, InputOf, OutputOf } from '../../gateway/commit/commands.ts';
import type { Effect } from '../../gateway/commit/context/job.ts';
import { InProcessWriters } from '../../gateway/commit/thread/in-process.ts';
import type {
  WritableProject,
  Writers,
  WritersOptions,
} from '../../gateway/commit/thread/writers.ts';
import type { Repositories } from '../../shared/store/repositories.ts';

type OnCommitted = (effects: readonly Effect[]) => void;

/** Who writes to a project in this thread, by its id. */
const writersOfProject = new Map<string, InProcessWriters>();

class DirectWriters extends InProcessWriters {
  override async open(project: WritableProject, onCommitted: OnCommitted): Promise<Uint8Array> {
    const ledgerKey = await super.open(project, onCommitted);
    writersOfProject.set(project.info.id, this);
    return ledgerKey;
  }
}

class CloningWriters extends DirectWriters {
  override open(project: WritableProject, onCommitted: OnCommitted): Promise<Uint8Array> {
    return super.open(structuredClone(project), (effects) => onCommitted(structuredClone(effects)));
  }

  override async run<N extends CommandName>(
    projectId: string,
    name: N,
    input: InputOf<N>,
  ): Promise<OutputOf<N>> {
    return structuredClone(await super.run(projectId, name, structuredClone(input)));
  }
}

/** Transactions in this thread. */
export function directWriters(options: WritersOptions): Writers {
  return new DirectWriters(options);
}

/** Writers in this thread that copy their messages, as crossing to another thread would. */
export function cloningWriters(options: WritersOptions): Writers {
  return new CloningWriters(options);
}

/** Writes to an open project as no command does. */
export function writeTo<T>(
  writers: InProcessWriters,
  projectId: string,
  fn: (store: Repositories) => Promise<T>,
): Promise<T> {
  const { queue, store } = writers.opened(projectId);
  return queue.write((tx) => fn(store(tx)));
}

/** The same by the project: for what a test finds there to begin with. */
export function writerOf(project: Project): {
  write<T>(fn: (store: Repositories) => Promise<T>): Promise<T>;
} {
  return {
    async write(fn) {
      // Nobody closes it while a test writes: these gateways keep everything open.
      await project.store.read(async () => null);
      const writers = writersOfProject.get(project.info.id);
      if (!writers) throw new Error('It writes in another thread.');
      return writeTo(writers, project.info.id, fn);
    },
  };
}
