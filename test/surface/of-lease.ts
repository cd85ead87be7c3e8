import type { Refuse, Stage } from './stage.ts';

export const NO_EVENT = 'evt_00000000000000000000000000';

/** The refusals that the queue has for whoever works on a claimed event. */
export function ofLease(name: string, input: Readonly<Record<string, unknown>> = {}) {
  const on =
    (event: (stage: Stage) => Promise<string>): Refuse =>
    async (stage) =>
      stage.run(name, { ...input, event_id: await event(stage) });
  return {
    NOT_FOUND: on(async () => NO_EVENT),
    EVENT_NOT_CLAIMABLE: on((stage) => stage.dead()),
    EVENT_ROUTED: on((stage) => stage.routed()),
    LEASE_NOT_HELD: on((stage) => stage.taken()),
    LEASE_EXPIRED: on((stage) => stage.expired()),
  };
}
