/** The daemon cannot start until a person does something; the message says what. */
export class StartRefused extends Error {
  /** `held`: another daemon has the data. `port`: the port cannot be used. `settings`: something given is wrong. */
  readonly kind: 'held' | 'port' | 'settings';
  /** Everything that is wrong, where it is more than one thing. */
  readonly problems: readonly string[];

  constructor(message: string, kind: StartRefused['kind'], problems: readonly string[] = []) {
    super(message);
    this.name = 'StartRefused';
    this.kind = kind;
    this.problems = problems;
  }

  /** For standard error: problems stand below the message, each on an indented line. */
  text(): string {
    return [this.message, ...this.problems.map((problem) => `  ${problem}`)].join('\n');
  }
}
