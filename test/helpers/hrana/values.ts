import { Buffer } from 'node:buffer';
import { ProtocolError, SqlError, type HranaStatement, type HranaValue } from './protocol.ts';
import type { Parameter, SqlStatement } from './sql-text.ts';

/** What the driver takes without harm, in an array. */
export type Bindable = string | number | bigint | null | Uint8Array;

export interface Bound {
  readonly sql: string;
  readonly values: readonly Bindable[];
}

/**
 * A statement with its values. The driver binds a whole number as an integer, while a `float` of the protocol is one
 * whatever its value: such numbers go into the text. ARGS_INVALID when values and placeholders do not match.
 */
export function bind(statement: SqlStatement, stmt: HranaStatement): Bound {
  const args = stmt.args ?? [];
  const named = new Map(stmt.named_args?.map(({ name, value }) => [name, value]));
  if (args.length > 0 && named.size > 0) {
    const message = 'Specifying both positional and named arguments is not supported';
    throw new SqlError('ARGS_BOTH_POSITIONAL_AND_NAMED', message);
  }
  const highest = Math.max(0, ...statement.parameters.map(({ index }) => index));
  const found = args.length + named.size;
  if (found > highest) throw mismatch(`too many parameters, expected ${highest} found ${found}`);
  const values = Array.from<Bindable>({ length: highest }).fill(null);
  const literals = new Map<Parameter, string>();
  for (const parameter of statement.parameters) {
    const value = valueFor(parameter, args, named);
    const literal = literalOf(value);
    if (literal) literals.set(parameter, literal);
    else values[parameter.index - 1] = bindable(value);
  }
  return { sql: literals.size === 0 ? statement.sql : rewritten(statement, literals), values };
}

function valueFor(
  { name, index }: Parameter,
  args: readonly HranaValue[],
  named: ReadonlyMap<string, HranaValue>,
): HranaValue {
  const isNumbered = name === null || name.startsWith('?');
  const value = isNumbered ? args[index - 1] : (named.get(name) ?? named.get(name.slice(1)));
  if (!value) throw mismatch(`value for parameter ${name ?? index} not found`);
  return value;
}

function literalOf(value: HranaValue): string | null {
  if (value.type !== 'float' || !Number.isInteger(value.value)) return null;
  const digits = Object.is(value.value, -0) ? '-0' : String(value.value);
  return `(${digits.includes('e') ? digits : `${digits}.0`})`;
}

function rewritten({ sql, parameters }: SqlStatement, literals: Map<Parameter, string>): string {
  let text = '';
  let at = 0;
  for (const parameter of parameters) {
    const put = literals.get(parameter) ?? `?${parameter.index}`;
    text += sql.slice(at, parameter.start) + put;
    at = parameter.end;
  }
  return text + sql.slice(at);
}

function bindable(value: HranaValue): Bindable {
  switch (value.type) {
    case 'null':
      return null;
    case 'integer':
      return BigInt(value.value);
    case 'float':
      return value.value;
    case 'text':
      if (value.value.includes('\0')) throw mismatch('text with NUL comes back cut');
      return value.value;
    case 'blob':
      return Buffer.from(value.base64, 'base64');
    default:
      throw new ProtocolError('Value type not recognized');
  }
}

/** A value as the driver reads it when all integers are `bigint`. */
export function toHrana(value: unknown): HranaValue {
  if (value === null || value === undefined) return { type: 'null' };
  switch (typeof value) {
    case 'bigint':
      return { type: 'integer', value: String(value) };
    case 'number':
      return { type: 'float', value };
    case 'string':
      return { type: 'text', value };
    default:
      return { type: 'blob', base64: Buffer.from(value as Uint8Array).toString('base64') };
  }
}

function mismatch(why: string): SqlError {
  return new SqlError('ARGS_INVALID', `Arguments do not match SQL parameters: ${why}`);
}
