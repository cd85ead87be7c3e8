import type { Project } from '../../gateway/project.ts';
import { InProcessWriters, InProcessWrites } from '../../gateway/writes/in-process.ts';
import type { Writers, WritersOptions } from '../../gateway/writes/writers.ts';
import type { ProjectWriter } from '../../shared/store/project-store.ts';

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
      return writes;
    },
    close: () => writers.close(),
  };
}

/** Writes to a project as no procedure does: for what a test finds there to begin with. */
export function writerOf(project: Project): ProjectWriter {
  if (!(project.writes instanceof InProcessWrites)) throw new Error('It writes in another thread.');
  return project.writes.writer;
}
