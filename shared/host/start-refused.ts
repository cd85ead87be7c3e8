/** The process can't start until a person does something; the message says what. */
export class StartRefused extends Error {
  /** `held`: another process has the data. `port`: the port can't be used. `settings`: a setting is wrong. */
  readonly kind: 'held' | 'port' | 'settings';
  /** Every problem, if there are several. */
  readonly problems: readonly string[];

  constructor(message: string, kind: StartRefused['kind'], problems: readonly string[] = []) {
    super(message);
    this.name = 'StartRefused';
    this.kind = kind;
    this.problems = problems;
  }

  /** The text for standard error, with each problem indented below the message. */
  text(): string {
    return [this.message, ...this.problems.map((problem) => `  ${problem}`)].join('\n');
  }
}
