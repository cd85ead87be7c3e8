import { answeredFailure } from '../core/errors.ts';
import { errorOf } from '../errors.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** A call as the server sees it. */
export interface FakeCall {
  readonly method: string;
  /** The path behind `/v1/`, decoded, in parts. */
  readonly parts: readonly string[];
  readonly query: Readonly<Record<string, string>>;
  /** The JSON as it was sent. */
  readonly json: unknown;
  /** The same, if it's an object. */
  readonly body: Fields;
  readonly bytes: Uint8Array | undefined;
  readonly contentType: string | undefined;
}

/** An error answer. */
export function refused(status: number, code: string, details: Fields = {}, message = code): Error {
  const error = { code, message, hint: null, details };
  return errorOf(answeredFailure(status, { error }));
}

/** What is needed of the server around a part. */
export interface FakeTime {
  now(): number;
  /** ISO 8601, of now or of another time (ms). */
  iso(at?: number): string;
  id(kind: string): string;
}

const UNITS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** A text among the fields; empty if there's none. */
export function textOf(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : '';
}

/** The milliseconds of a span such as `2h`. */
export function spanMs(span: string): number {
  return Number(span.slice(0, -1)) * (UNITS[span.slice(-1)] ?? Number.NaN);
}
