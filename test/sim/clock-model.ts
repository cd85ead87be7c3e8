/** Steps back up to this are the time service at work. */
const SMALL_STEP_BACK_MS = 60_000;

/** The service's clock: it holds still during a small step back, and follows a large one. */
export class ClockModel {
  /** The machine's clock. */
  wallMs: number;
  #now: number;

  constructor(startMs: number) {
    this.wallMs = startMs;
    this.#now = startMs;
  }

  get now(): number {
    return this.#now;
  }

  set(wallMs: number): void {
    this.wallMs = wallMs;
    const back = this.#now - wallMs;
    if (back <= 0 || back > SMALL_STEP_BACK_MS) this.#now = wallMs;
  }

  /** A process that starts knows of no time before. */
  restarted(): void {
    this.#now = this.wallMs;
  }
}

export function iso(ms: number): string {
  return new Date(ms).toISOString();
}

export function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : iso(ms);
}
