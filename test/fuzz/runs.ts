import * as fc from 'fast-check';

const SEED_DEFAULT = 20_260_102;
const SHOWN_MAX_CHARS = 3000;

/**
 * The seed of all inputs. It's fixed unless SVC_FUZZ_SEED is set, so that a change isn't judged by luck;
 * `torture-program.ts` tries others.
 */
const SEED = numberOf('SVC_FUZZ_SEED', SEED_DEFAULT);
/** How many times the ordinary number of inputs are tried. */
const SCALE = numberOf('SVC_FUZZ_RUNS', 1);

process.stderr.write(`fuzzing with SVC_FUZZ_SEED=${SEED} SVC_FUZZ_RUNS=${SCALE}\n`);

/** Runs an input and returns its faults, a line each; empty if there are none. */
type FaultsOf<T> = (input: T) => Promise<readonly string[]> | readonly string[];

/**
 * Tries that many inputs, and more where SVC_FUZZ_RUNS says so. Resolves with null, or with the faults of the smallest input
 * that was found to have some, and how to try it again.
 */
export async function fuzz<T>(
  inputs: fc.Arbitrary<T>,
  ordinaryRuns: number,
  faultsOf: FaultsOf<T>,
): Promise<string | null> {
  const property = fc.asyncProperty(inputs, async (input) => {
    const faults = await faultsOf(input);
    if (faults.length > 0) throw new Error(faults.join('\n'));
  });
  const numRuns = Math.max(1, Math.round(ordinaryRuns * SCALE));
  const found = await fc.check(property, { seed: SEED, numRuns });
  if (!found.failed) return null;
  const input = fc.stringify(found.counterexample).slice(0, SHOWN_MAX_CHARS);
  const error = found.errorInstance;
  const said = error instanceof Error ? error.stack : String(error);
  return `SVC_FUZZ_SEED=${SEED} path ${found.counterexamplePath}\n${said}\nfor ${input}`;
}

/** Tries each input of a list in the same way. Resolves with the faults found. */
export async function each<T extends { readonly name: string }>(
  inputs: Iterable<T>,
  faultsOf: FaultsOf<T>,
): Promise<string[]> {
  const found: string[] = [];
  for (const input of inputs) {
    for (const fault of await faultsOf(input)) found.push(`${input.name}: ${fault}`);
  }
  return found;
}

/** The names of the conditions that don't hold. */
export function unmet(holds: Readonly<Record<string, boolean>>): string[] {
  return Object.entries(holds)
    .filter(([, isSo]) => !isSo)
    .map(([what]) => `not so: ${what}`);
}

/** When a test counts as hung, in milliseconds: later where more inputs are tried. */
export const HUNG_MS = 600_000 * Math.max(1, SCALE);

function numberOf(name: string, ordinary: number): number {
  const text = process.env[name] ?? '';
  const value = text === '' ? ordinary : Number(text);
  if (!Number.isFinite(value)) throw new Error(`${name} is no number.`);
  return value;
}
