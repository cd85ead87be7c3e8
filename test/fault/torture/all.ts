import { existsSync } from 'node:fs';
import type { Outcome, TortureOptions } from './runs.ts';
import type { Task } from './tasks.ts';

/** What became of one task. */
export interface Result extends Outcome {
  readonly name: string;
  readonly seconds: number;
}

/** Runs one after the other; a task that fails, or can't run, doesn't stop the others. */
export async function runAll(tasks: readonly Task[], options: TortureOptions): Promise<Result[]> {
  const results: Result[] = [];
  for (const task of tasks) {
    if (options.signal.aborted) break;
    const { name } = task;
    options.say(`${name}: ${task.what}`);
    const began = performance.now();
    const outcome = await outcomeOf(task, {
      ...options,
      say: (text) => options.say(`${name}: ${text}`),
    });
    const seconds = Math.round((performance.now() - began) / 1000);
    options.say(`${name}: ${outcome.ok ? 'held' : 'FAILED'} after ${seconds} s: ${outcome.detail}`);
    results.push({ name, seconds, ...outcome });
  }
  return results;
}

async function outcomeOf(task: Task, options: TortureOptions): Promise<Outcome> {
  const missing = task.files.find((path) => !existsSync(path));
  if (missing !== undefined) return { ok: false, detail: `${missing} is not here` };
  try {
    return await task.run(options);
  } catch (error) {
    return { ok: false, detail: error instanceof Error ? error.message : String(error) };
  }
}

/** The results as a table. */
export function summary(results: readonly Result[]): string {
  const rows = [
    ['task', 'result', 'seconds', 'detail'],
    ...results.map(({ name, ok, seconds, detail }) => [
      name,
      ok ? 'held' : 'FAILED',
      String(seconds),
      detail,
    ]),
  ];
  const widths = [0, 1, 2].map((column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
