import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../cli/exit.ts';
import { findProgram } from '../helpers/programs.ts';
import { required } from '../helpers/require.ts';
import { difference } from './likeness.ts';
import { stepsOf, type Step } from './page.ts';
import { runnablePages } from './pages.ts';
import { hasTerminals, Stage, type Printed } from './stage.ts';

const able = required(
  'pages are run',
  hasTerminals() && findProgram('jq') !== null && findProgram('curl') !== null,
  'needs `script` of util-linux, jq and curl',
);

/** The shells that people type the commands into; macOS has zsh. */
const SHELLS = required('pages are run in zsh', findProgram('zsh') !== null, 'needs zsh')
  ? ['bash', 'zsh -f']
  : ['bash'];

/** Of commands that are shown alone it counts that they end well. */
function problemOf({ silent, output }: Step, { code, lines }: Printed): string | null {
  if (!silent) return difference(output, lines);
  const isWell = code === EXIT.done || code === EXIT.pending;
  return isWell ? null : `It ends with ${code}:\n${lines.join('\n')}`;
}

/** `npx tsx test/docs/write-pages.ts [PAGE …]` writes what is printed now into the pages. */
describe.runIf(able)('what pages say that commands print', () => {
  const runs = runnablePages().flatMap((path) => SHELLS.map((shell) => ({ path, shell })));

  it.each(runs)('is what they print: $path in $shell', async ({ path, shell }) => {
    const steps = stepsOf(readFileSync(path, 'utf8'));
    const stage = Stage.open({ shell });
    try {
      for (const step of steps) {
        const problem = problemOf(step, await stage.run(step));
        expect({ [step.command]: problem }).toEqual({ [step.command]: null });
      }
    } finally {
      await stage.close();
    }
  });
});
