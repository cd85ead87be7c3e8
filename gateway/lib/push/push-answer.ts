/** What became of a push. */
export type PushAnswer =
  /** The push service took it, or refused it. */
  | {
      readonly kind: 'answered';
      readonly host: string;
      readonly status: number;
      readonly retryAfterSeconds: number | null;
      /** The start of its answer. */
      readonly text: string;
    }
  /** No answer came, for this reason. */
  | { readonly kind: 'failed'; readonly host: string; readonly reason: string };

/** There is no such browser any more (RFC 8030), or it was added with another key. */
const GONE: readonly number[] = [403, 404, 410];

/** Whether a browser gets the push; null if that's unknown. */
export function resultOf(answer: PushAnswer): 'sent' | 'gone' | null {
  if (answer.kind !== 'answered') return null;
  if (GONE.includes(answer.status)) return 'gone';
  return answer.status >= 200 && answer.status < 300 ? 'sent' : null;
}
