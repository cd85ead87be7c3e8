import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { plainJson, plainLine, plainText } from '../pages/text.ts';

interface FieldProps {
  readonly name: string;
  readonly label: string;
  /** Explains the input, below the field. */
  readonly hint?: Child;
  /** What's wrong with the input. */
  readonly problem?: string | undefined;
}

/** Links a field to its hint and problem for screen readers. */
function described({ name, hint, problem }: FieldProps): Readonly<Record<string, string>> {
  const ids = [problem && `${name}-problem`, hint && `${name}-hint`].filter(Boolean).join(' ');
  return {
    ...(ids !== '' && { 'aria-describedby': ids }),
    ...(problem && { 'aria-invalid': 'true' }),
  };
}

function Frame({ field, children }: { field: FieldProps; children?: Child }): JSX.Element {
  const { name, label, hint, problem } = field;
  return (
    <div class="field">
      <label for={`field-${name}`}>{label}</label>
      {children}
      {problem && (
        <p id={`${name}-problem`} class="wrong">
          {problem}
        </p>
      )}
      {hint && (
        <p id={`${name}-hint`} class="soft">
          {hint}
        </p>
      )}
    </div>
  );
}

/** A text input. Secrets are never shown again, so they have no `value`. */
export function Field({
  value = '',
  type = 'text',
  maxlength,
  placeholder,
  ...field
}: FieldProps & {
  readonly value?: string | undefined;
  readonly type?: 'text' | 'password' | 'date' | 'search';
  readonly maxlength: number;
  readonly placeholder?: string;
}): JSX.Element {
  return (
    <Frame field={field}>
      <input
        id={`field-${field.name}`}
        name={field.name}
        type={type}
        value={type === 'password' ? '' : plainText(value)}
        maxlength={maxlength}
        autocomplete={type === 'password' ? 'new-password' : 'off'}
        autocapitalize="none"
        spellcheck={false}
        {...(placeholder !== undefined && { placeholder })}
        {...described(field)}
      />
    </Frame>
  );
}

/** A choice of one: the first if `value` is none of them. The browser's own choice would look like a person's. */
export function Choice({
  value,
  choices,
  ...field
}: FieldProps & {
  readonly value: string | undefined;
  readonly choices: readonly (readonly [value: string, text: string])[];
}): JSX.Element {
  const chosen = (choices.find(([one]) => one === value) ?? choices[0])?.[0];
  return (
    <Frame field={field}>
      <select id={`field-${field.name}`} name={field.name} {...described(field)}>
        {choices.map(([one, text]) => (
          <option value={one} selected={one === chosen}>
            {plainLine(text)}
          </option>
        ))}
      </select>
    </Frame>
  );
}

/** A choice of any number, each with an explanation. */
export function CheckBoxes({
  values,
  choices,
  ...field
}: FieldProps & {
  readonly values: readonly string[];
  readonly choices: readonly (readonly [value: string, text: string])[];
}): JSX.Element {
  const { name, label, problem } = field;
  return (
    <fieldset class="field checks" {...described(field)}>
      <legend>{label}</legend>
      {choices.map(([value, text]) => (
        <label>
          <input type="checkbox" name={name} value={value} checked={values.includes(value)} />
          <span>
            <span class="mono">{value}</span> <span class="soft">{text}</span>
          </span>
        </label>
      ))}
      {problem && (
        <p id={`${name}-problem`} class="wrong">
          {problem}
        </p>
      )}
    </fieldset>
  );
}

/** A text area for several lines of code. */
export function CodeArea({
  value,
  rows,
  ...field
}: FieldProps & { readonly value: string; readonly rows: number }): JSX.Element {
  return (
    <Frame field={field}>
      <textarea
        id={`field-${field.name}`}
        name={field.name}
        class="mono"
        rows={rows}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        translate="no"
        {...described(field)}
      >
        {plainJson(value)}
      </textarea>
    </Frame>
  );
}

/** A value to copy: one click selects all of it, another copies it. */
export function CopyField({
  name,
  label,
  value,
  rows,
  hint,
}: {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  /** For a value of several lines. */
  readonly rows?: number;
  readonly hint?: string;
}): JSX.Element {
  const id = `field-${name}`;
  // Nothing unseen is copied into a terminal.
  const shown = plainJson(value);
  return (
    <div class="field copy">
      <label for={id}>{label}</label>
      <div>
        {rows === undefined ? (
          <input id={id} readonly value={shown} dir="ltr" translate="no" />
        ) : (
          <textarea id={id} class="mono" rows={rows} readonly translate="no" dir="ltr">
            {shown}
          </textarea>
        )}
        <button type="button" class="btn small" data-copy={id}>
          Copy
        </button>
      </div>
      {hint !== undefined && <p class="soft">{hint}</p>}
    </div>
  );
}
