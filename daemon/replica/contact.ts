import type { FreshnessJudge } from './freshness.ts';
import type { GatewayPosition } from './gateway-position.ts';
import { Line } from './line.ts';
import type { Pauses } from './pauses.ts';
import { SourceError } from './source-error.ts';
import type { StatusBoard } from './status-board.ts';

/** Whoever uses the replica has the gateway asked if nothing was heard of it for this long. */
const UNHEARD_MS = 5_000;

/** The gateway's answer, and how many answers to writes were lost when it was asked. */
export interface Reached {
  readonly gateway: GatewayPosition;
  readonly lost: number;
}

export interface ContactDeps {
  /**
   * Asks the gateway over a new connection, and counts lost answers before that. Rejects with `SourceError`, or with the
   * abort reason.
   */
  readonly ask: (signal: AbortSignal) => Promise<Reached>;
  readonly freshness: FreshnessJudge;
  readonly board: Pick<StatusBoard, 'enter' | 'shown'>;
  readonly pauses: Pick<Pauses, 'endNow'>;
  /** True while a session follows the gateway's changes. */
  readonly isFollowing: () => boolean;
  /** Begins another session. */
  readonly renew: () => void;
  /** The gateway told its position. */
  readonly onPosition: (position: number) => void;
  /** The gateway answers after a silence: connections from before may be dead. */
  readonly onReturn: () => void;
}

/** Knows if the gateway is there: from the stream, from relayed calls, and by asking. */
export class Contact {
  readonly #deps: ContactDeps;
  readonly #line: Line<Reached>;
  readonly #closing = new AbortController();
  /** True from when the gateway couldn't be reached until it answers. */
  #isAway = false;
  /** When it was last heard, and asked, in monotonic milliseconds. */
  #heardAt = performance.now();
  #askedAt = 0;

  constructor(deps: ContactDeps) {
    this.#deps = deps;
    this.#line = new Line({
      ask: deps.ask,
      onQuiet: () => deps.freshness.silent(),
      onLost: () => this.#lose(),
      onAnswer: ({ gateway }, wasSilent) => {
        if (wasSilent) deps.freshness.doubt();
        this.#answered(wasSilent);
        if (deps.isFollowing()) deps.onPosition(gateway.position);
      },
    });
  }

  /** True if the gateway doesn't answer at the moment. */
  get isSilent(): boolean {
    return this.#deps.freshness.silentSince !== null;
  }

  /** The gateway's answer to the question of the moment. Rejects with `SourceError`, or with the signal's reason. */
  reach(signal = this.#closing.signal): Promise<Reached> {
    return this.#line.reach(signal);
  }

  /** True once the gateway answers over a new connection, if only with a refusal; false if it can't be reached. */
  async answers(signal: AbortSignal): Promise<boolean> {
    try {
      await this.#line.reach(signal);
      return true;
    } catch (error) {
      return error instanceof SourceError && error.isOfGateway;
    }
  }

  /** Somebody relies on the replica: asks the gateway, in the background, if nothing was heard of it for long. */
  attend(): void {
    const lastAt = Math.max(this.#heardAt, this.#askedAt);
    if (performance.now() - lastAt > UNHEARD_MS && this.#deps.isFollowing()) this.#ask();
  }

  /** The stream said something. */
  heard(): void {
    this.#heardAt = performance.now();
  }

  /** A relayed call was answered. */
  noteAnswer(): void {
    this.#answered(false);
  }

  /** A relayed call is late, and the replica answers in its place. */
  noteLate(): void {
    this.#deps.freshness.silent();
    this.#ask();
  }

  /** A relayed call got no answer, so the stream may be dead too. */
  noteSilence(): void {
    this.#deps.freshness.doubt();
    this.noteLate();
  }

  /** The gateway can't be reached. */
  away(): void {
    this.#isAway = true;
    this.#deps.freshness.reachable(false);
  }

  close(): void {
    this.#closing.abort();
    this.#line.close();
  }

  /** One question at a time. */
  #ask(): void {
    const { signal } = this.#closing;
    if (this.#line.isAsking || signal.aborted) return;
    this.#askedAt = performance.now();
    this.#line.reach(signal).catch(() => this.#deps.freshness.doubt());
  }

  #answered(wasSilent: boolean): void {
    const { freshness, board, pauses, renew, onReturn } = this.#deps;
    const isBack = wasSilent || this.#isAway;
    this.#isAway = false;
    this.#heardAt = performance.now();
    freshness.reachable(true);
    if (board.shown.state === 'offline') {
      pauses.endNow();
      this.#line.hurry();
    }
    if (freshness.isDoubted) renew();
    if (isBack) onReturn();
  }

  /** Nothing was heard of the gateway for long: the stream is dead, too. */
  #lose(): void {
    const { board, freshness, isFollowing, renew } = this.#deps;
    const isHeard = performance.now() - this.#heardAt < UNHEARD_MS;
    // A long download may hold up everything else.
    if (isHeard || board.shown.state === 'copying') return;
    freshness.streamEnded();
    this.away();
    board.enter('offline', "The gateway can't be reached: it doesn't answer.");
    if (isFollowing()) renew();
  }
}
