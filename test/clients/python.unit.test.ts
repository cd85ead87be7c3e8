import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { operations } from '../../shared/operations/index.ts';
import { VERSION } from '../../shared/lib/version.ts';
import { pythonFiles } from '../surface/python.ts';

const CLIENT = 'clients/python/src/svc_agents';

/** The operations that a client's file has a method for: its class is the noun, its method the rest of the name. */
function methodsOf(text: string): string[] {
  const classes = text.split(/^class /m).slice(1);
  return classes.flatMap((part) => {
    const noun = (/^\w+/.exec(part)?.[0] ?? '').toLowerCase();
    const verbs = [...part.matchAll(/^ {4}(?:async )?def ([a-z]\w*)\(/gm)].map(([, verb]) => verb);
    return verbs.map((verb) => (noun === 'methods' ? verb : `${noun}_${verb}`) ?? '');
  });
}

describe('the Python client', () => {
  it('follows from the operations (if it was meant to change: npm run surface)', () => {
    for (const [path, text] of pythonFiles()) expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it.each(['api.py', 'async_api.py'])(
    '%s has a method for each operation, and no other',
    (name) => {
      const methods = methodsOf(readFileSync(`${CLIENT}/_generated/${name}`, 'utf8'));
      expect(methods.toSorted()).toEqual(operations.map((one) => one.name).toSorted());
    },
  );

  it('has the version of the program', () => {
    expect(readFileSync('clients/python/pyproject.toml', 'utf8')).toContain(
      `\nversion = "${VERSION}"\n`,
    );
    expect(readFileSync(`${CLIENT}/_version.py`, 'utf8')).toBe(`VERSION = "${VERSION}"\n`);
  });
});
