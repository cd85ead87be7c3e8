/** One input field of an operation, as the command line sees it. */
export interface FieldShape {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'json' | 'array';
  readonly summary: string;
  readonly required: boolean;
  /** The name of its flag, where that isn't the field's own. */
  readonly flag?: string;
  readonly default?: string | number | boolean;
  /** The only values; of an array, of its items. */
  readonly choices?: readonly string[];
  /** Bounds of a number. */
  readonly minimum?: number;
  readonly maximum?: number;
  /** Bounds of a text in characters. */
  readonly minLength?: number;
  readonly maxLength?: number;
  /** Text that may be long: also taken from a file or standard input. */
  readonly text?: true;
}

/** What the command line needs of an operation. Written out by the build, so that starting costs no schema library. */
export interface OperationShape {
  /** `inbox_claim` */
  readonly name: string;
  /** `['inbox', 'claim']` */
  readonly words: readonly string[];
  readonly positional: readonly { readonly name: string; readonly required: boolean }[];
  readonly summary: string;
  readonly description: string;
  readonly method: string;
  /** `/v1/keys/{id}` */
  readonly path: string;
  /** Which field a path parameter takes, where the names differ. */
  readonly params: Readonly<Record<string, string>>;
  /** The field that is the whole body, as JSON; the others stand in the query then. */
  readonly rawBody?: string;
  readonly effect: 'read' | 'write' | 'wait';
  readonly fields: readonly FieldShape[];
  readonly examples: readonly string[];
  /** Filled in where the interface requires a field and the command line does not. */
  readonly defaults: Readonly<Record<string, string>>;
  /** Columns of the table for `items`. */
  readonly columns?: readonly string[];
  /** A null here means "nothing there": exit code 3. */
  readonly emptyWhenNull?: string;
}
