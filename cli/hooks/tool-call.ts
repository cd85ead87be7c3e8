/** A tool that a coding agent wants to use, as its client's hook says it. */
export interface ToolCall {
  /** As the client names it: `Bash`, `mcp__github__merge`. */
  readonly tool: string;
  /** Exactly what the tool gets. */
  readonly input: unknown;
  /** The line for a shell; null if the tool runs none. */
  readonly command: string | null;
  /** The folder, as the client says it. */
  readonly cwd: string | null;
  /** The client's session, as the client says it. */
  readonly session: string | null;
  /** Where the client writes down what becomes of its calls, while its prompt is on the screen; null if it doesn't. */
  readonly transcript: string | null;
  /** A policy's rule by which the client wouldn't ask again; null if it suggests none. */
  readonly suggestedRule: object | null;
  /** What else people should see, as the client says it: a server's address, the agent's remark. */
  readonly said: readonly (readonly [name: string, text: string])[];
}

/** How a prompt ends. Only `allow` lets the tool run; `undecided` leaves it to the client's own prompt. */
export type Verdict =
  | { readonly kind: 'allow' }
  /** `isStop`: the agent should not go on with anything else. */
  | { readonly kind: 'deny'; readonly message: string; readonly isStop: boolean }
  | { readonly kind: 'undecided'; readonly note: string | null };

/** Leaves a prompt to the client, and tells the user why. */
export function undecided(note: string | null): Verdict {
  return { kind: 'undecided', note };
}
