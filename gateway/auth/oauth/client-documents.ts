import * as z from 'zod';
import { ServiceError, unavailable } from '../../../shared/lib/errors.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import type { CallbackAllow } from '../../callbacks/callback-allow.ts';
import { guardedGet, type GetOptions } from '../../callbacks/guarded-get.ts';
import { Semaphore } from '../../lib/semaphore.ts';
import {
  clientMetadata,
  jsonOf,
  nameOf,
  redirectUrisOf,
  type OAuthClient,
} from './client-metadata.ts';
import { parsedUrl } from '../../../shared/lib/urls.ts';

const MAX_BYTES = 16 * 1024;
const DEADLINE_MS = 5000;
const FRESH_MS = 600_000;
const KEPT_MAX = 100;
const AT_ONCE_MAX = 8;
/** Including those that are read: nobody waits for much longer than ten seconds. */
const WANTED_MAX = 24;
const RETRY_SECONDS = 5;

const document = clientMetadata.extend({
  client_id: z.string(),
  client_secret: z.never().optional(),
  token_endpoint_auth_method: z.literal('none').optional(),
});

interface CachedClient {
  readonly client: OAuthClient;
  readonly until: number;
}

/** Reads clients' metadata documents (Client ID Metadata Documents), and keeps those that are right for ten minutes. */
export class ClientDocuments {
  readonly #clock: Clock;
  readonly #options: GetOptions;
  readonly #kept = new Map<string, CachedClient>();
  readonly #slots = new Semaphore(AT_ONCE_MAX);
  /** The people for whom a document is being read, or is to be. */
  readonly #people = new Set<string>();

  constructor(
    clock: Clock,
    options: Pick<GetOptions, 'resolve' | 'ca'> & { readonly allow: CallbackAllow },
  ) {
    this.#clock = clock;
    this.#options = { maxBytes: MAX_BYTES, deadlineMs: DEADLINE_MS, ...options };
  }

  /**
   * The client at a client id; null if the id isn't the URL of a document, or the document isn't right. Each person reads one
   * at a time. UNAVAILABLE if another is being read for them, or if too many people wait.
   */
  async get(id: string, person: string): Promise<OAuthClient | null> {
    if (!isDocumentUrl(id)) return null;
    const now = this.#clock.now();
    const kept = this.#kept.get(id);
    if (kept && kept.until > now) return kept.client;
    this.#kept.delete(id);
    const client = clientIn(id, await this.#readFor(person, id));
    if (client === null) return null;
    this.#kept.set(id, { client, until: now + FRESH_MS });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT_MAX && oldest !== undefined) this.#kept.delete(oldest);
    return client;
  }

  async #readFor(person: string, id: string): Promise<string | null> {
    if (this.#people.has(person) || this.#people.size >= WANTED_MAX) {
      throw unavailable(RETRY_SECONDS);
    }
    this.#people.add(person);
    try {
      return await this.#slots.within(1, () => this.#read(id));
    } finally {
      this.#people.delete(person);
    }
  }

  async #read(id: string): Promise<string | null> {
    try {
      return await guardedGet(id, this.#options);
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'CALLBACK_URL_REJECTED') return null;
      throw error;
    }
  }
}

/** The guard checks the rest. The URL must be spelled as it parses, because it's compared as text. */
function isDocumentUrl(id: string): boolean {
  const url = /^https?:\/\//.test(id) ? parsedUrl(id) : null;
  return url?.href === id && url.pathname !== '/';
}

function clientIn(id: string, text: string | null): OAuthClient | null {
  const { data } = document.safeParse(text === null ? null : jsonOf(text));
  if (data?.client_id !== id) return null;
  return { id, name: nameOf(data), redirectUris: redirectUrisOf(data), host: new URL(id).host };
}
