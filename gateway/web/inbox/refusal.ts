import { ServiceError, type ErrorCode, type FieldProblem } from '../../../shared/lib/errors.ts';

/** Why an operation did not take a form: what is wrong with its fields, or all of it in a sentence. */
export interface Refusal {
  readonly status: number;
  /** Null where a field says it. */
  readonly text: string | null;
  /** By the names of fields. */
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * Reads what an operation threw. `fieldOf` names the field that a code is about; what is about no field of the form, one
 * of `shown`, is said above it. Throws on what no form can help: that is a page of its own.
 */
export function refusalOf(
  error: unknown,
  shown: readonly string[],
  fieldOf: Readonly<Partial<Record<ErrorCode, string>>> = {},
): Refusal {
  if (!(error instanceof ServiceError) || !isAnswered(error)) throw error;
  const { status } = error;
  const field = fieldOf[error.code];
  if (field !== undefined) return { status, text: null, fields: { [field]: sentences(error) } };
  const problems = (error.details?.['fields'] ?? []) as readonly FieldProblem[];
  const fields: Record<string, string> = {};
  const rest: string[] = [];
  for (const { path, message } of problems) {
    if (shown.includes(path)) fields[path] ??= message;
    else rest.push(message);
  }
  if (problems.length === 0) rest.push(sentences(error));
  return { status, text: rest.length === 0 ? null : rest.join(' '), fields };
}

function isAnswered({ code, status }: ServiceError): boolean {
  return status >= 400 && status < 500 && code !== 'NOT_FOUND' && code !== 'SCOPE_MISSING';
}

function sentences({ message, hint }: ServiceError): string {
  return [message, hint].filter((one) => one !== null).join(' ');
}

/** The fields of a form as they came; null for what no form of ours sends, a field that comes twice among it. */
export function fieldsOf<Name extends string>(
  body: string,
  names: readonly Name[],
): Readonly<Partial<Record<Name, string>>> | null {
  const sent = new URLSearchParams(body);
  const form: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const values = sent.getAll(name);
    if (values.length > 1) return null;
    if (values[0] !== undefined && values[0] !== '') form[name] = values[0];
  }
  return form;
}
