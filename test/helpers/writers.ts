import type { Project } from '../../gateway/projects/project.ts';
import { InProcessWriters, type InProcessWrites } from '../../gateway/commit/in-process.ts';
import type { Writers, WritersOptions } from '../../gateway/commit/writers.ts';
import type { ProjectWriter } from '../../shared/store/project-store.ts';

/** What is open for writing in this thread, by the project's id. */
const open = new Map<string, InProcessWrites>();

/** Transactions in this thread. */
export function directWriters(options: WritersOptions): Writers {
  const writers = new InProcessWriters(options);
  return {
    async open(project, apply) {
      const writes = await writers.open(project, apply);
      open.set(project.info.id, writes);
      return writes;
    },
    close: () => writers.close(),
  };
}

/** Transactions in this thread, with everything copied on the way as it is on the way to another one. */
export function cloningWriters(options: WritersOptions): Writers {
  const writers = new InProcessWriters(options);
  return {
    async open(project, apply) {
      const writes = await writers.open(structuredClone(project), (effects) =>
        apply(structuredClone(effects)),
      );
      const run = writes.run.bind(writes);
      writes.run = (name, input) =>
        run(name, structuredClone(input)).then((output) => structuredClone(output));
      open.set(project.info.id, writes);
      return writes;
    },
    close: () => writers.close(),
  };
}

/** Writes to a project as no command does: for what a test finds there to begin with. */
export function writerOf(project: Project): Pick<ProjectWriter, 'write'> {
  return {
    async write(fn, options) {
      // Nobody closes it while a test writes: these gateways keep everything open.
      await project.store.read(async () => null);
      const writes = open.get(project.info.id);
      if (!writes) throw new Error('It writes in another thread.');
      return writes.writer.write(fn, options);
    },
  };
}
