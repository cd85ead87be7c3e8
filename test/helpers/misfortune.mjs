// Preloaded into one of our programs: on a signal it causes faults inside that process.
import { syncBuiltinESMExports } from 'node:module';
import workers from 'node:worker_threads';

if (workers.isMainThread) {
  const { Worker } = workers;
  const writers = [];
  workers.Worker = class extends Worker {
    constructor(entry, options) {
      super(entry, options);
      if (options?.name === 'writer') writers.push(this);
    }
  };
  syncBuiltinESMExports();
  process.on('SIGUSR2', () => {
    for (const writer of writers) void writer.terminate();
  });
  process.on('SIGHUP', () => void Promise.reject(new Error('Nobody handles this.')));
}
