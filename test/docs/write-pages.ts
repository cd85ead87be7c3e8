import { readFileSync, writeFileSync } from 'node:fs';
import { difference } from './likeness.ts';
import { stepsOf, withOutputs } from './page.ts';
import { runnablePages } from './pages.ts';
import { Stage } from './stage.ts';

/** Runs the commands of pages, and writes what they print into them where that is not what stands there. */
async function rewrite(path: string): Promise<void> {
  const page = readFileSync(path, 'utf8');
  const stage = Stage.open();
  const outputs: (readonly string[] | null)[] = [];
  try {
    for (const step of stepsOf(page)) {
      const { lines } = await stage.run(step);
      outputs.push(step.silent || difference(step.output, lines) === null ? null : lines);
    }
  } finally {
    await stage.close();
  }
  const changed = outputs.filter((output) => output !== null).length;
  process.stdout.write(`${path}: ${outputs.length} commands, ${changed} outputs written\n`);
  writeFileSync(path, withOutputs(page, outputs));
}

const wanted = process.argv.slice(2);
for (const path of wanted.length > 0 ? wanted : runnablePages()) await rewrite(path);
