import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** As many callers are remembered. */
const CALLERS_MAX = 16_384;

/**
 * Remembers which project a key, session or hook address belongs to. A request that shows one of these waits with its
 * project's requests, although nobody has checked it yet; whoever shows a new one waits with those of its address.
 */
export class Callers {
  readonly #projects = new Map<string, string>();

  /** The project that this has belonged to; null if we don't know it. */
  projectOf(credential: string): string | null {
    return this.#projects.get(credential) ?? null;
  }

  remember(credential: string, project: string): void {
    if (this.#projects.get(credential) === project) return;
    if (this.#projects.size >= CALLERS_MAX) {
      const [oldest = ''] = this.#projects.keys();
      this.#projects.delete(oldest);
    }
    this.#projects.set(credential, project);
  }

  forget(credential: string): void {
    this.#projects.delete(credential);
  }
}

/** What a request shows about its caller: the token in its address, its key, or its session. */
export function shownBy({
  url = '/',
  headers,
}: Pick<IncomingMessage, 'url' | 'headers'>): string | undefined {
  // Senders of webhooks have Authorization headers of their own.
  if (url.charAt(2) !== '/') return headers.authorization ?? headers.cookie;
  const end = url.search(/[?#]/);
  return end === -1 ? url : url.slice(0, end);
}

/** A name for what a request shows, from which nobody learns it. */
export function credentialOf(shown: string): string {
  return hash('sha256', shown);
}
