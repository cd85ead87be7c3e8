import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/**
 * How many callers are remembered, in total and per project, so that a client that varies its cookie can't push the
 * others out.
 */
const CALLERS_MAX = 16_384;
const PROJECT_CALLERS_MAX = 512;

/**
 * Remembers which project a key, session or hook address belongs to. A request that shows one of these waits with its
 * project's requests, although nobody has checked it yet; whoever shows a new one waits with those of its address.
 */
export class Callers {
  readonly #projects = new Map<string, string>();
  readonly #callersOf = new Map<string, Set<string>>();

  /** The project that this has belonged to; null if we don't know it. */
  projectOf(credential: string): string | null {
    return this.#projects.get(credential) ?? null;
  }

  remember(credential: string, project: string): void {
    if (this.#projects.get(credential) === project) return;
    this.forget(credential);
    const callers = this.#callersOf.get(project) ?? new Set();
    const isFull = this.#projects.size >= CALLERS_MAX;
    const [oldest] =
      callers.size >= PROJECT_CALLERS_MAX ? callers : isFull ? this.#projects.keys() : [];
    if (oldest !== undefined) this.forget(oldest);
    this.#projects.set(credential, project);
    this.#callersOf.set(project, callers.add(credential));
  }

  forget(credential: string): void {
    const project = this.projectOf(credential) ?? '';
    this.#projects.delete(credential);
    const callers = this.#callersOf.get(project);
    callers?.delete(credential);
    if (callers?.size === 0) this.#callersOf.delete(project);
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
