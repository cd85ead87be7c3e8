import { isoTime, type Clock } from '../shared/clock.ts';
import type { AgentIdentity, Caller } from '../shared/context.ts';
import { invalid, ServiceError } from '../shared/errors.ts';
import type { Credentials } from '../shared/executor.ts';
import { hashApiKey, parseApiKey } from '../shared/ids.ts';
import { IDEMPOTENCY_KEY_MAX_CHARS, SESSION_MS } from '../shared/limits.ts';
import type { KeyRecord, SessionRecord } from '../shared/store/keys.ts';
import { cutUtf8 } from '../shared/text.ts';
import type { KeyUse } from './key-use.ts';
import type { Projects } from './projects.ts';

const AGENT_MAX_BYTES = 100;

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
        session: wantsSession ? await store.keys.session(found.id, isoTime(now - SESSION_MS)) : null,
      };
    });
    refuseUnusable(key, isoTime(now));
    this.#keyUse.note(project, key.id, now);
    return {
      projectId: project.info.id,
      keyId: key.id,
      scopes: key.scopes,
      agent: identify(credentials, session),
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

/** Header first, then what the key said in session_hello, then the MCP client, then the user agent. */
function identify(credentials: Credentials, session: SessionRecord | null): AgentIdentity {
  if (credentials.agentHeader) {
    return { label: label(credentials.agentHeader), platform: 'unknown', source: 'header' };
  }
  if (session) return { label: session.agent, platform: session.platform, source: 'hello' };
  if (credentials.mcpClientName) {
    const name = label(credentials.mcpClientName);
    return { label: name, platform: platformOf(name), source: 'mcp_client_info' };
  }
  const platform = platformOf(credentials.userAgent ?? '');
  if (platform === 'unknown') return { label: null, platform, source: 'none' };
  return { label: platform, platform, source: 'user_agent' };
}

function platformOf(name: string): string {
  const lower = name.toLowerCase();
  if (lower.includes('claude')) return 'claude-code';
  if (lower.includes('codex')) return 'codex';
  return 'unknown';
}

/** A label as the ledger keeps it: one line, short. */
function label(text: string): string {
  const printable = [...text].map((char) => (char < ' ' || char === '\u007f' ? ' ' : char)).join('');
  return cutUtf8(printable.toWellFormed(), AGENT_MAX_BYTES);
}

function checkedIdempotencyKey(key: string | undefined): string | null {
  if (key === undefined) return null;
  if (key.length === 0 || key.length > IDEMPOTENCY_KEY_MAX_CHARS || /[^\x20-\x7e]/.test(key)) {
    throw invalid({
      path: 'Idempotency-Key',
      message: `Expected 1 to ${IDEMPOTENCY_KEY_MAX_CHARS} printable ASCII characters.`,
    });
  }
  return key;
}
