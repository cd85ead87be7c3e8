import type { Caller } from '../../shared/kernel/context.ts';
import type { Credentials } from '../../shared/kernel/executor.ts';
import { whoami } from '../../shared/operations/whoami.ts';
import { checkedIdempotencyKey, identifyAgent } from '../../shared/kernel/caller.ts';
import { isObject } from '../../shared/lib/guards.ts';
import type { Upstream } from './upstream.ts';

/** How long an answer is valid. If the key is revoked meanwhile, the gateway still refuses the call itself. */
const BELIEVED_MS = 5_000;
const KEPT_MAX = 200;

type KnownKey = Pick<Caller, 'projectId' | 'keyId' | 'scopes' | 'diskPrefixes' | 'agent'>;

/** Asks the gateway who a caller is, for keys that the replica lacks. Remembers accepted keys only. */
export class UpstreamKeys {
  readonly #upstream: Pick<Upstream, 'call'>;
  /** Monotonic milliseconds. */
  readonly #now: () => number;
  /** Includes pending questions, so that simultaneous callers ask once. */
  readonly #known = new Map<
    string,
    { readonly until: number; readonly caller: Promise<KnownKey> }
  >();

  constructor(upstream: Pick<Upstream, 'call'>, now = () => performance.now()) {
    this.#upstream = upstream;
    this.#now = now;
  }

  /** Throws UNAUTHENTICATED, KEY_REVOKED or any other error of the gateway; UNAVAILABLE if it doesn't answer. */
  async find(credentials: Credentials, hash: string): Promise<Caller> {
    const idempotencyKey = checkedIdempotencyKey(credentials.idempotencyKey);
    const { agentHeader, userAgent, clientName, requestId } = credentials;
    const name = JSON.stringify([hash, agentHeader, userAgent, clientName]);
    const known = this.#known.get(name);
    const caller =
      known && known.until > this.#now() ? known.caller : this.#remembered(name, credentials);
    return { ...(await caller), requestId, idempotencyKey };
  }

  /** Call it after a write that changed a key or its agent. */
  forget(): void {
    this.#known.clear();
  }

  #remembered(name: string, credentials: Credentials): Promise<KnownKey> {
    if (this.#known.size >= KEPT_MAX) this.#known.clear();
    const caller = this.#ask(credentials);
    const known = { until: this.#now() + BELIEVED_MS, caller };
    this.#known.set(name, known);
    caller.catch(() => {
      if (this.#known.get(name) === known) this.#known.delete(name);
    });
    return caller;
  }

  async #ask(credentials: Credentials): Promise<KnownKey> {
    const agent = identifyAgent(credentials, null);
    const { value } = await this.#upstream.call({
      operation: whoami,
      input: {},
      caller: { agent, idempotencyKey: null },
      credentials,
      // Nobody's leaving ends it: others may wait for the same answer.
      signal: new AbortController().signal,
    });
    if (!isWhoamiAnswer(value)) throw new Error("The gateway didn't say whose key this is.");
    const { project, key, scopes, agent: seen } = value;
    // Gateways of earlier releases have no limited keys.
    const diskPrefixes = key.disk_prefixes ?? null;
    return { projectId: project.id, keyId: key.id, scopes, diskPrefixes, agent: seen };
  }
}

interface WhoamiAnswer {
  readonly project: { readonly id: string };
  readonly key: { readonly id: string; readonly disk_prefixes?: Caller['diskPrefixes'] };
  readonly scopes: Caller['scopes'];
  readonly agent: Caller['agent'];
}

/** Checks only the fields we use: the whoami of a later gateway may have more. */
function isWhoamiAnswer(value: unknown): value is WhoamiAnswer {
  if (!isObject(value)) return false;
  const { project, key, scopes, agent } = value;
  return (
    isObject(project) &&
    typeof project['id'] === 'string' &&
    isObject(key) &&
    typeof key['id'] === 'string' &&
    Array.isArray(scopes) &&
    isObject(agent)
  );
}
