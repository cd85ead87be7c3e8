import { isoTime, type Clock } from '../shared/clock.ts';
import type { Caller } from '../shared/context.ts';
import { ServiceError } from '../shared/errors.ts';
import type { Credentials } from '../shared/executor.ts';
import { hashApiKey, parseApiKey } from '../shared/ids.ts';
import { SESSION_MS } from '../shared/limits.ts';
import type { KeyRecord } from '../shared/store/keys.ts';
import { checkedIdempotencyKey, identifyAgent } from '../shared/rules/caller.ts';
import type { KeyUse } from './key-use.ts';
import type { Projects } from './projects.ts';

/** Checks keys: junk by its checksum, the rest by its hash in the project it names. */
export class Authenticator {
  readonly #projects: Projects;
  readonly #clock: Clock;
  readonly #keyUse: KeyUse;

  constructor(parts: { projects: Projects; clock: Clock; keyUse: KeyUse }) {
    this.#projects = parts.projects;
    this.#clock = parts.clock;
    this.#keyUse = parts.keyUse;
  }

  /** UNAUTHENTICATED says the same of a missing, a malformed, an unknown and an expired key. */
  async check(credentials: Credentials): Promise<Caller> {
    const apiKey = bearer(credentials.authorization);
    const parsed = apiKey === null ? null : parseApiKey(apiKey);
    const project = parsed && (await this.#projects.find(parsed.projectId));
    if (apiKey === null || !project) throw new ServiceError('UNAUTHENTICATED');
    const now = this.#clock.now();
    const { key, session } = await project.store.read(async (store) => {
      const found = await store.keys.findByHash(hashApiKey(apiKey), isoTime(now));
      const wantsSession = found !== null && !credentials.agentHeader;
      return {
        key: found,
        session: wantsSession
          ? await store.keys.session(found.id, isoTime(now - SESSION_MS))
          : null,
      };
    });
    refuseUnusable(key, isoTime(now));
    this.#keyUse.note(project, key.id, now);
    return {
      projectId: project.info.id,
      keyId: key.id,
      scopes: key.scopes,
      agent: identifyAgent(credentials, session),
      requestId: credentials.requestId,
      idempotencyKey: checkedIdempotencyKey(credentials.idempotencyKey),
    };
  }
}

function bearer(authorization: string | undefined): string | null {
  const scheme = authorization?.slice(0, 7).toLowerCase();
  return authorization && scheme === 'bearer ' ? authorization.slice(7).trim() : null;
}

function refuseUnusable(key: KeyRecord | null, nowIso: string): asserts key is KeyRecord {
  if (!key || (key.expires_at !== null && key.expires_at <= nowIso)) {
    throw new ServiceError('UNAUTHENTICATED');
  }
  if (key.revoked_at !== null) throw new ServiceError('KEY_REVOKED');
}
