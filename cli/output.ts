/** The one place that prints. Standard output holds the answer and nothing else. */
export interface Output {
  /** True when the answer is JSON: asked for, or standard output is no terminal. */
  readonly json: boolean;
  /** The answer: JSON, or a readable view with a table for `items`. */
  answer(value: unknown, view?: { readonly columns?: readonly string[] }): void;
  /** One line of plain text to standard output, made safe for a terminal. */
  line(text: string): void;
  /** One line to standard error. */
  note(text: string): void;
  /** A spinner on standard error while something takes long; silent where that is no terminal. */
  spin<T>(text: string, work: Promise<T>): Promise<T>;
}
