/** How often to ask again, by the age of the task: people who haven't decided in an hour are away. */
const PACES = [
  { untilMs: 60_000, pollIntervalMs: 1_000 },
  { untilMs: 3_600_000, pollIntervalMs: 5_000 },
] as const;
const SLOWEST_MS = 30_000;

/** The `pollIntervalMs` of a task. */
export function paceOf(ageMs: number): number {
  return PACES.find(({ untilMs }) => ageMs < untilMs)?.pollIntervalMs ?? SLOWEST_MS;
}
