/** A figure of several rounds. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly rounds: number;
}

/** The value at a share of the sorted samples, 0.5 being the median; NaN when there are none. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}

function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

export function spread(samples: readonly number[]): Spread {
  return {
    median: median(samples),
    min: Math.min(...samples),
    max: Math.max(...samples),
    rounds: samples.length,
  };
}

/** Ratio round by round: neighbours in time share the noise of the machine. */
export function ratios(ours: readonly number[], theirs: readonly number[]): Spread {
  return spread(ours.map((value, round) => value / (theirs[round] ?? Number.NaN)));
}
