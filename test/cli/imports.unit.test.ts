import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commandBundle } from '../helpers/command-bundle.ts';

const metafile = await commandBundle();

/** What is loaded from a file on, without what is loaded later by `import()`. */
function staticImports(entry: string): Set<string> {
  const seen = new Set<string>();
  const todo = [entry];
  for (let path = todo.pop(); path !== undefined; path = todo.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const imports = metafile.inputs[path]?.imports ?? [];
    todo.push(...imports.filter(({ kind }) => kind !== 'dynamic-import').map((one) => one.path));
  }
  return seen;
}

describe('the executable', () => {
  it('answers --version with next to nothing loaded', () => {
    expect([...staticImports('cli/main.ts')].toSorted()).toEqual([
      'cli/main.ts',
      'shared/lib/version.ts',
    ]);
  });

  it('loads no code of commands, of help or of HTTP before it knows the command', () => {
    const loaded = [...staticImports('cli/run.ts')];
    expect(loaded.filter((path) => path.startsWith('cli/commands/'))).toEqual([]);
    expect(loaded).not.toContain('cli/view/help/help.ts');
    expect(loaded).not.toContain('cli/call/client.ts');
    expect(
      loaded.filter((path) =>
        ['http', 'https', 'crypto', 'net'].includes(path.replace('node:', '')),
      ),
    ).toEqual([]);
  });

  // Loading the locales takes 30 ms, a third of what an ordinary command takes in all.
  it('uses nothing that knows about languages', () => {
    const spoken = /\btoLocale\w*\(|\blocaleCompare\(|\bIntl\./;
    const own = Object.keys(metafile.inputs).filter((path) => path.endsWith('.ts'));
    expect(own.length).toBeGreaterThan(100);
    expect(own.filter((path) => spoken.test(readFileSync(path, 'utf8')))).toEqual([]);
  });
});
