import { ServiceError, type ErrorCode, type FieldProblem } from '../../../shared/lib/errors.ts';

/** Why an operation refused a form: problems by field, or one sentence for the whole form. */
export interface Refusal {
  readonly status: number;
  /** Null if a field has the problem. */
  readonly text: string | null;
  /** By field name. */
  readonly fields: Readonly<Record<string, string>>;
}

/** For a form that nothing refused. */
export const NO_REFUSAL: Refusal = { status: 200, text: null, fields: {} };

/**
 * Turns an operation's error into a refusal. `fieldOf` maps an error code to a field. A problem with no field in
 * `shown` appears above the form. Rethrows errors that no form can fix; they get their own page.
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

/** Whether an outside address may not be called. */
export function isAddressRejected(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'CALLBACK_URL_REJECTED';
}

function isAnswered({ code, status }: ServiceError): boolean {
  return status >= 400 && status < 500 && code !== 'NOT_FOUND' && code !== 'SCOPE_MISSING';
}

function sentences({ message, hint }: ServiceError): string {
  return [message, hint].filter((one) => one !== null).join(' ');
}

/** The fields of a form as sent; null if none of our forms could send it, for example with a repeated field. */
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
