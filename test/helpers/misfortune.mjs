// Loaded before a program of ours: at a signal it brings about from within what can go wrong there.
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
