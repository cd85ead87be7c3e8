/** Who does what a transaction writes, as its ledger entries name them: by ids, never by names or addresses. */
export interface Actor {
  /** The id of a key, a person's channel, a member or a source; `policy:RULE`, `operator` or `service`. */
  readonly id: string;
  /** The agent that uses the key, as it calls itself. */
  readonly agent: string | null;
  /** An agent's platform. For people, where they did it: `web`, `link` or `telegram`. */
  readonly platform: string | null;
  /** X-Request-Id of the call. */
  readonly requestId: string | null;
}

/** Where a person acts: in the web inbox, on the page behind a link that they were sent, or in Telegram. */
export type PersonPlace = 'web' | 'link' | 'telegram';

/** The gateway, on its own: what time does, what it sends. */
export const SERVICE: Actor = actorNamed('service');

/** Whoever runs the gateway. */
export const OPERATOR: Actor = actorNamed('operator');

/** An actor that makes no call. */
export function actorNamed(id: string, place: PersonPlace | null = null): Actor {
  return { id, agent: null, platform: place, requestId: null };
}

export function policyActor(ruleId: string): Actor {
  return actorNamed(`policy:${ruleId}`);
}

/** The caller of an operation: a key, or a member in the web inbox. */
export function callerActor(caller: {
  readonly keyId: string;
  readonly agent: { readonly label: string | null; readonly platform: string };
  readonly requestId: string;
}): Actor {
  const { keyId: id, agent, requestId } = caller;
  return { id, agent: agent.label, platform: agent.platform, requestId };
}

/** The columns of a ledger entry that say who. */
export function whoColumns({ id, agent, platform, requestId }: Actor) {
  const keyId = id.startsWith('key_') ? id : null;
  return { actor: id, agent, platform, key_id: keyId, request_id: requestId };
}

/** What an actor without an object of its own is called; null for an id. */
export function actorWords(id: string): string | null {
  if (id === SERVICE.id) return 'the service';
  if (id === OPERATOR.id) return 'the operator';
  const rule = id.startsWith('policy:') ? id.slice('policy:'.length) : null;
  return rule === null ? null : `policy rule ${rule}`;
}
