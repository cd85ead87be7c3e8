import type { Workshop } from './children.ts';
import type { Proxy } from './front.ts';
import type { Row } from './report.ts';

/** What a bench is given to work with. */
export interface Bench {
  readonly workshop: Workshop;
  /** Fewer and shorter rounds, for a look. */
  readonly quick: boolean;
  readonly rounds: number;
  /** Of one run of a load generator. */
  readonly seconds: number;
  /** The program in front of gateways, where a bench can have one. */
  readonly proxy: Proxy | null;
  readonly progress: (text: string) => void;
}

/** One or more rows of the table. */
export type RunBench = (bench: Bench) => Promise<Row[]>;

/** Runs the sides of a comparison in turn, round by round, so that they share the noise of the machine. */
export async function interleave<Name extends string, T>(
  bench: Pick<Bench, 'rounds' | 'progress'>,
  sides: Readonly<Record<Name, (round: number) => Promise<T>>>,
): Promise<Record<Name, T[]>> {
  const names = Object.keys(sides) as Name[];
  const results = Object.fromEntries(names.map((name) => [name, [] as T[]])) as Record<Name, T[]>;
  for (let round = 0; round < bench.rounds; round += 1) {
    for (const name of names) results[name].push(await sides[name](round));
    bench.progress(`round ${round + 1} of ${bench.rounds}`);
  }
  return results;
}
