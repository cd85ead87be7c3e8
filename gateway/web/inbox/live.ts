import { ServiceError } from '../../../shared/lib/errors.ts';
import { UI_STREAMS_PER_PROJECT, UI_STREAMS_PER_SESSION } from '../../../shared/lib/limits.ts';
import type { Project } from '../../projects/project.ts';
import type { EventStream } from '../../replica/event-stream.ts';
import { ALL_TOPICS, type Topic } from '../../projects/watchers.ts';

/** So often a silent stream says that it lives, and its session is looked at. */
const LOOK_MS = 15_000;
/** After the end of a stream a browser comes again so much later. */
const HELLO = 'retry: 3000\n\n';
const STILL_HERE = ': still here\n\n';

interface Listener {
  readonly project: Project;
  /** Of its session. */
  readonly idHash: string;
  readonly stream: EventStream;
  /** Of the commit that its page shows, as the page says it; null where it does not. */
  readonly position: string | null;
  /** Whether its session still holds. */
  readonly mayListen: () => Promise<boolean>;
}

/** Tells open pages that something of a kind has changed: they look again by themselves. */
export class LiveStreams {
  /** What looks at its session again, for each stream of a session. */
  readonly #perSession = new Map<string, Set<() => void>>();

  /** Resolves when the page is gone, its session has ended, or the gateway stops. TOO_MANY_WAITS. */
  async serve({ project, idHash, stream, position, mayListen }: Listener): Promise<void> {
    const look = async (): Promise<void> => {
      const may = await mayListen().catch(() => false);
      if (may) stream.send(STILL_HERE);
      else stream.end('event: ended\ndata: {}\n\n');
    };
    const leave = this.#enter(project, idHash, () => void look());
    const unwatch = project.watchers.add({
      changed: (topics) => {
        stream.send(changedText(topics));
        if (topics.includes('keys') || topics.includes('channels')) void look();
      },
      ended: () => stream.end(''),
    });
    const ticker = setInterval(() => void look(), LOOK_MS);
    stream.send(HELLO);
    // What was committed between the page and its stream was told to nobody.
    if (position !== null && position !== String(project.position)) {
      stream.send(changedText(ALL_TOPICS));
    }
    await stream.closed;
    clearInterval(ticker);
    unwatch();
    leave();
  }

  /** Its pages are told at once when a session has ended. Those at other gateways look by themselves. */
  look(idHash: string): void {
    for (const look of this.#perSession.get(idHash) ?? []) look();
  }

  #enter(project: Project, idHash: string, look: () => void): () => void {
    const open = this.#perSession.get(idHash) ?? new Set();
    refuseBeyond('session', open.size, UI_STREAMS_PER_SESSION);
    refuseBeyond('project', project.watchers.size, UI_STREAMS_PER_PROJECT);
    this.#perSession.set(idHash, open.add(look));
    return () => {
      open.delete(look);
      if (open.size === 0) this.#perSession.delete(idHash);
    };
  }
}

function refuseBeyond(kind: 'session' | 'project', used: number, limit: number): void {
  if (used < limit) return;
  throw new ServiceError('TOO_MANY_WAITS', {
    hint: `${used} of ${limit} live pages of this ${kind} are open: close one first.`,
    details: { kind, limit, used },
  });
}

function changedText(topics: readonly Topic[]): string {
  return `event: changed\ndata: ${JSON.stringify({ topics })}\n\n`;
}
