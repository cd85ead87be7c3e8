import { deadline } from '../../../shared/lib/deadline.ts';
import type { FreshnessJudge } from '../serve/freshness.ts';
import type { GatewayPosition } from '../serve/gateway-position.ts';
import { LATE_MS, Line } from './line.ts';
import type { Pauses } from './pauses.ts';
import { SourceError } from './source-error.ts';
import type { StatusBoard } from '../status-board.ts';

/** A read of the replica asks the gateway whether it's there after this much silence. */
const UNHEARD_MS = 5_000;
/** For how long an answer in time lets us expect that others come in time. */
const PROMPT_MS = 500;

/** The gateway's answer, and how many answers to writes were lost when it was asked. */
export interface ContactResult {
  readonly gateway: GatewayPosition;
  readonly lost: number;
}

export interface ContactDeps {
  /**
   * Asks the gateway over a new connection, and counts lost answers before that. Rejects with `SourceError`, or with the
   * abort reason.
   */
  readonly ask: (signal: AbortSignal) => Promise<ContactResult>;
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
  readonly #line: Line<ContactResult>;
  readonly #closing = new AbortController();
  /** True from when the gateway couldn't be reached until it answers. */
  #isAway = false;
  /** When it was last heard, and asked, in monotonic milliseconds. */
  #heardAt = performance.now();
  #askedAt = 0;
  /** When the last answer came in time. */
  #promptAt = Number.NEGATIVE_INFINITY;
  /** True from when a question got no answer in time until an answer comes in time. */
  #isLate = false;

  constructor(deps: ContactDeps) {
    this.#deps = deps;
    this.#line = new Line({
      ask: deps.ask,
      onQuiet: () => deps.freshness.silent(),
      onLate: () => this.#late(LATE_MS),
      onLost: () => this.#lose(),
      onAnswer: ({ gateway }, { wasSilent, tookMs }) => {
        if (wasSilent) deps.freshness.doubt();
        if (tookMs > LATE_MS) this.#late(tookMs);
        this.#answered(wasSilent, tookMs);
        if (deps.isFollowing()) deps.onPosition(gateway.position);
      },
    });
  }

  /** True if the gateway doesn't answer at the moment, or not in time. */
  get isSilent(): boolean {
    return this.#isLate || this.#deps.freshness.isSilent;
  }

  /** Whether the gateway answers in time: it has just done so, or it does so now. */
  async isPrompt(): Promise<boolean> {
    if (!this.#wasPrompt) {
      this.#ask();
      const soon = AbortSignal.any([this.#closing.signal, deadline(LATE_MS)]);
      if (!this.#isLate) await this.#line.reach(soon).catch(() => undefined);
    }
    return this.#wasPrompt;
  }

  /** The gateway's answer to the current question. Rejects with `SourceError`, or with the signal's reason. */
  reach(signal = this.#closing.signal): Promise<ContactResult> {
    return this.#line.reach(signal);
  }

  /** True once the gateway answers over a new connection, if only with a refusal; false if it can't be reached. */
  async answers(signal: AbortSignal): Promise<boolean> {
    try {
      await this.#line.insist(signal);
      return true;
    } catch (error) {
      return error instanceof SourceError && error.isOfGateway;
    }
  }

  /**
   * Call it for each read that relies on the replica: asks the gateway, in the background, if it was late or has been
   * silent for long.
   */
  attend(): void {
    this.#line.need();
    const lastAt = Math.max(this.#heardAt, this.#askedAt);
    const isUnheard = this.#isLate || performance.now() - lastAt > UNHEARD_MS;
    if (isUnheard && this.#deps.isFollowing()) this.#ask();
  }

  /** The stream said something. */
  heard(): void {
    this.#heardAt = performance.now();
  }

  /** A relayed call was answered. `tookMs`: null for a wait, which may take long on any connection. */
  noteAnswer(tookMs: number | null): void {
    this.#answered(false, tookMs);
    // The gateway may be at fault, or the connection.
    if (tookMs !== null && tookMs > LATE_MS) this.#ask();
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

  get #wasPrompt(): boolean {
    return performance.now() - this.#promptAt < PROMPT_MS;
  }

  /** A question has had no answer for this long. */
  #late(ms: number): void {
    this.#isLate = true;
    this.#deps.freshness.delayed(ms);
  }

  #answered(wasSilent: boolean, tookMs: number | null): void {
    const { freshness, board, pauses, renew, onReturn } = this.#deps;
    const isBack = wasSilent || this.#isAway;
    this.#isAway = false;
    this.#heardAt = performance.now();
    if (tookMs !== null && tookMs <= LATE_MS) {
      this.#promptAt = this.#heardAt;
      this.#isLate = false;
      freshness.delayed(0);
    }
    freshness.reachable(true);
    if (board.shown.state === 'offline') {
      pauses.endNow();
      this.#line.hurry();
    }
    if (freshness.isDoubted) renew();
    if (isBack) onReturn();
  }

  /** The gateway has been silent for long, so the stream is dead too. */
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
