import type { Admission } from '../../../../shared/admission/admission.ts';
import type { Project } from '../../../projects/project.ts';
import type { EventStream } from '../../../replica/event-stream.ts';
import { ALL_TOPICS, type Topic } from '../../../projects/watchers.ts';

/** How often to check a stream's session. */
const LOOK_MS = 15_000;
/** How often all streams get a beat. A page that hears none for 2.6 s says that it isn't connected. */
const BEAT_MS = 1000;
/** A comment would keep the connection alive too, but scripts can't hear it. */
const BEAT = 'event: beat\ndata\n\n';
/** How long a browser waits before it reconnects. */
const HELLO = 'retry: 1000\n\n';

interface Listener {
  readonly project: Project;
  /** The id hash of the stream's session. */
  readonly idHash: string;
  readonly stream: EventStream;
  /** The commit that the page shows, according to the page; null if unknown. */
  readonly position: string | null;
  /** Whether the session is still valid. */
  readonly mayListen: () => Promise<boolean>;
}

/** Tells open pages which kind of data has changed, so that they refresh. */
export class LiveStreams {
  /** For each session, the functions that check it again, one per stream. */
  readonly #perSession = new Map<string, Set<() => void>>();
  /** All open streams. One timer serves them, and only while there are any: an idle gateway does nothing. */
  readonly #open = new Set<EventStream>();
  #ticker: NodeJS.Timeout | null = null;
  readonly #admission: Pick<Admission, 'hold'>;

  constructor(admission: Pick<Admission, 'hold'>) {
    this.#admission = admission;
  }

  /** Resolves when the page closes, its session ends, or the gateway stops. TOO_MANY_WAITS. */
  async serve({ project, idHash, stream, position, mayListen }: Listener): Promise<void> {
    const recheck = async (): Promise<void> => {
      const may = await mayListen().catch(() => false);
      if (!may) stream.end('event: ended\ndata: {}\n\n');
    };
    const release = this.#enter(project, idHash, () => void recheck());
    const unwatch = project.watchers.add({
      changed: (topics) => {
        stream.send(changedText(topics));
        if (topics.includes('keys') || topics.includes('channels')) void recheck();
      },
      ended: () => stream.end(''),
    });
    const ticker = setInterval(() => void recheck(), LOOK_MS);
    stream.send(HELLO);
    const stopBeats = this.#beat(stream);
    // The page doesn't know about commits between its load and the start of this stream.
    if (position !== null && position !== String(project.position)) {
      stream.send(changedText(ALL_TOPICS));
    }
    await stream.closed;
    clearInterval(ticker);
    stopBeats();
    unwatch();
    release();
  }

  /** Tells a session's pages at once that it has ended. Pages at other gateways find out at their next check. */
  recheck(idHash: string): void {
    for (const recheck of this.#perSession.get(idHash) ?? []) recheck();
  }

  /** Sends beats to the stream until the returned function is called. */
  #beat(stream: EventStream): () => void {
    this.#open.add(stream);
    this.#ticker ??= setInterval(() => {
      for (const one of this.#open) one.send(BEAT);
    }, BEAT_MS);
    return () => {
      this.#open.delete(stream);
      if (this.#open.size > 0 || this.#ticker === null) return;
      clearInterval(this.#ticker);
      this.#ticker = null;
    };
  }

  #enter(project: Project, idHash: string, recheck: () => void): () => void {
    const release = this.#admission.hold('live pages', {
      session: idHash,
      project: project.info.id,
    });
    const open = this.#perSession.get(idHash) ?? new Set();
    this.#perSession.set(idHash, open.add(recheck));
    return () => {
      release();
      open.delete(recheck);
      if (open.size === 0) this.#perSession.delete(idHash);
    };
  }
}

function changedText(topics: readonly Topic[]): string {
  return `event: changed\ndata: ${JSON.stringify({ topics })}\n\n`;
}
