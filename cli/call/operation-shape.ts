import type { Endpoint } from '../../clients/typescript/call/endpoint.ts';
import type { OperationName } from './answers.ts';

/** One input field of an operation, for the command line. */
export interface FieldShape {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'json' | 'array';
  readonly summary: string;
  readonly required: boolean;
  /** The flag's name, if it differs from the field's. */
  readonly flag?: string;
  readonly default?: string | number | boolean;
  /** The only allowed values, or an array's only allowed items. */
  readonly choices?: readonly string[];
  /** A number's bounds. */
  readonly minimum?: number;
  readonly maximum?: number;
  /** A text's bounds, in characters. */
  readonly minLength?: number;
  readonly maxLength?: number;
  /** A time, which may be typed as a span before or after now. */
  readonly time?: 'past' | 'future';
  /** A wait in seconds, typed as a span: `60`, `60s`, `5m`. The service holds a call for at most `maximum`. */
  readonly wait?: true;
  /** A span such as `30m`, or texts of which some are one after a `+`. People may type several units. */
  readonly span?: true;
  /** The flag's earlier name, which still works but isn't shown. */
  readonly formerFlag?: string;
  /** The text may be long, so it can also come from a file or standard input. */
  readonly text?: true;
}

/**
 * What the command line needs to know about an operation. The build writes it out, so that starting loads no schema
 * library.
 */
export interface OperationShape<N extends OperationName = OperationName> extends Endpoint {
  /** `inbox_claim` */
  readonly name: N;
  /** `['inbox', 'claim']` */
  readonly words: readonly string[];
  readonly positional: readonly { readonly name: string; readonly required: boolean }[];
  readonly summary: string;
  readonly description: string;
  readonly effect: 'read' | 'write' | 'wait';
  readonly fields: readonly FieldShape[];
  readonly examples: readonly string[];
  /** Values for fields that the API requires but the command line doesn't. */
  readonly defaults: Readonly<Record<string, string>>;
  /** The table columns for `items`. */
  readonly columns?: readonly string[];
  /** If this field is null, nothing was found: exit code 3. */
  readonly emptyWhenNull?: string;
}
