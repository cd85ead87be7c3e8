/** The process can't start until a person does something; the message says what. */
export class StartRefusal extends Error {
  /** `held`: another process has the data. `port`: the port can't be used. `settings`: a setting is wrong. */
  readonly kind: 'held' | 'port' | 'settings';
  /** Every problem, if there are several. */
  readonly problems: readonly string[];

  constructor(message: string, kind: StartRefusal['kind'], problems: readonly string[] = []) {
    super(message);
    this.name = 'StartRefusal';
    this.kind = kind;
    this.problems = problems;
  }

  /** The text for standard error, with each problem indented below the message. */
  text(): string {
    return [this.message, ...this.problems.map((problem) => `  ${problem}`)].join('\n');
  }
}

/** The code of the error for a database that a newer release wrote. */
export const NEWER_SCHEMA = 'NEWER_SCHEMA';
/** The code of the error for a secret that another master key sealed. */
export const OTHER_MASTER_KEY = 'OTHER_MASTER_KEY';

/** The code of `DamagedDatabase`. */
const DAMAGED_DATABASE = 'DAMAGED_DATABASE';

/** A database file can't be opened, or must not be: writing to it would destroy more. */
export class DamagedDatabase extends Error {
  readonly code = DAMAGED_DATABASE;

  /** `what` continues "is damaged:". */
  constructor(path: string, what: string, cause?: unknown) {
    super(
      `${path} is damaged: ${what}. \`svc gateway check\` looks for more, \`svc gateway repair\` mends it from a backup or a member's copy, and a restored backup replaces it.`,
      { cause },
    );
    this.name = 'DamagedDatabase';
  }
}

/** What standard error says about a failed start: one sentence for what a person can mend, or else the stack. */
export function startFailureText(error: unknown): string {
  if (error instanceof StartRefusal) return error.text();
  if (!(error instanceof Error)) return String(error);
  // The writer's thread passes on the code of an error, but not its class.
  const code = 'code' in error ? error.code : null;
  const isPlain = code === NEWER_SCHEMA || code === OTHER_MASTER_KEY || code === DAMAGED_DATABASE;
  if (isPlain) return error.message;
  return error.stack ?? error.message;
}
