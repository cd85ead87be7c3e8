/**
 * Ends a handler whose event was parked: nothing failed, and the handler runs again from the top once what it waits for
 * has ended. Let it pass; a `catch` around `ctx.ask` or `ctx.park` has to throw it again.
 */
export class Parked extends Error {
  override readonly name = 'Parked';
  readonly eventId: string;
  /** What the event waits for: request ids, other ids or times. */
  readonly waitsFor: readonly string[];

  constructor(eventId: string, waitsFor: readonly string[]) {
    super(`${eventId} is parked until ${waitsFor.join(', ')}.`);
    this.eventId = eventId;
    this.waitsFor = waitsFor;
  }
}

/** Throw this, or an error with `dead: true`, if trying again can't help: the event is dead at once. */
export class Permanent extends Error {
  override readonly name: string = 'Permanent';
  readonly dead = true;
}

export function isPermanent(error: unknown): boolean {
  return error instanceof Error && 'dead' in error && error.dead === true;
}
