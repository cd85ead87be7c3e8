import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import type { ErrorCode } from '../../../shared/lib/errors.ts';
import { CheckBoxes, Choice, CodeArea, Field } from './fields.tsx';
import { Form, Heading, Problem, UpLink } from './parts.tsx';
import { NO_REFUSAL, refusalOf, type Refusal } from './refusal.ts';
import type { ActionResult, PageContext, PageResult } from '../inbox/page-context.ts';

interface Common {
  readonly name: string;
  readonly label: string;
  readonly hint?: Child;
  /** What stands in the field at first. */
  readonly value?: string | undefined;
}

type Choices = readonly (readonly [value: string, text: string])[];

/** A field of a form. */
export type FieldSpec =
  | (Common & {
      /** A secret never comes back after a refusal. */
      readonly kind?: 'text' | 'password' | 'date' | 'search';
      readonly max: number;
      readonly placeholder?: string;
    })
  | (Common & { readonly kind: 'choice'; readonly choices: Choices })
  | (Omit<Common, 'value'> & {
      readonly kind: 'checks';
      readonly choices: Choices;
      readonly values: readonly string[];
    })
  | (Common & { readonly kind: 'code'; readonly rows: number });

/** Filters by a known value. Its own value is among the choices even if it isn't known. */
export function knownField(
  name: string,
  known: readonly string[],
  value: string | undefined,
): FieldSpec {
  const values = value === undefined || known.includes(value) ? known : [value, ...known];
  const choices = [['', `any ${name}`], ...values.map((one) => [one, one] as const)] as const;
  const label = name.charAt(0).toUpperCase() + name.slice(1);
  return { kind: 'choice', name, label, value, choices };
}

/** A form as it was sent. */
export interface SubmittedForm {
  /** The value of a field, trimmed unless it's a secret; undefined if empty. */
  readonly value: (name: string) => string | undefined;
  /** The same as it was written. */
  readonly written: (name: string) => string | undefined;
  /** The values of check boxes. */
  readonly values: (name: string) => readonly string[];
}

/** Null if no form of ours could send this body: a field is repeated. `more` names fields that no spec describes. */
export function readForm(
  body: string,
  fields: readonly FieldSpec[],
  more: readonly string[] = [],
): SubmittedForm | null {
  const sent = new URLSearchParams(body);
  const single = fields.filter(({ kind }) => kind !== 'checks').map(({ name }) => name);
  if ([...single, ...more].some((name) => sent.getAll(name).length > 1)) return null;
  const secrets = new Set(fields.filter(({ kind }) => kind === 'password').map(({ name }) => name));
  return {
    value: (name) => {
      const text = sent.get(name) ?? '';
      return (secrets.has(name) ? text : text.trim()) || undefined;
    },
    written: (name) => sent.get(name) ?? undefined,
    values: (name) => sent.getAll(name),
  };
}

/** The fields, with what was written before and what's wrong with it. */
export function Fields({
  fields,
  sent = null,
  problems = {},
}: {
  readonly fields: readonly FieldSpec[];
  readonly sent?: SubmittedForm | null;
  readonly problems?: Refusal['fields'];
}): JSX.Element {
  return (
    <>
      {fields.map((field) => {
        const { name, label, hint } = field;
        const common = { name, label, hint, problem: problems[name] };
        if (field.kind === 'checks') {
          const values = sent ? sent.values(name) : field.values;
          return <CheckBoxes {...common} choices={field.choices} values={values} />;
        }
        const value = sent ? sent.written(name) : field.value;
        if (field.kind === 'choice')
          return <Choice {...common} choices={field.choices} value={value} />;
        if (field.kind === 'code')
          return <CodeArea {...common} rows={field.rows} value={value ?? ''} />;
        const { kind: type = 'text', max: maxlength, placeholder } = field;
        const input = { type, maxlength, value, ...(placeholder !== undefined && { placeholder }) };
        return <Field {...common} {...input} />;
      })}
    </>
  );
}

/** A page with one form. */
export interface FormPage {
  readonly title: string;
  readonly lead?: string;
  /** The page above, and the text of its link. */
  readonly up: readonly [href: string, text: string];
  readonly fields: readonly FieldSpec[];
  readonly button: string;
  readonly after?: Child;
  /** What didn't happen if the form can't be read, such as `Nothing was added.` */
  readonly unread: string;
  /** The fields that error codes are about. */
  readonly about?: Readonly<Partial<Record<ErrorCode, string>>>;
  readonly submit: (sent: SubmittedForm) => Promise<ActionResult>;
}

export function showForm(
  context: PageContext,
  page: FormPage,
  sent: SubmittedForm | null = null,
  { status, text, fields }: Refusal = NO_REFUSAL,
): PageResult {
  const { title, lead, button } = page;
  const [href, up] = page.up;
  const content = (
    <div class="narrow stack">
      <UpLink href={href}>{up}</UpLink>
      <Heading title={title} lead={lead} />
      <Problem text={text} />
      <Form context={context} class="card stack">
        <Fields fields={page.fields} sent={sent} problems={fields} />
        <button class="btn yes">{button}</button>
      </Form>
      {page.after}
    </div>
  );
  return { title, content, status };
}

/** Submits the form; if it's refused, shows it again with the reason beside the field. */
export async function submitForm(
  context: PageContext,
  page: FormPage,
  body: string,
): Promise<ActionResult> {
  const sent = readForm(body, page.fields);
  if (!sent) {
    const text = `We couldn’t read the form. ${page.unread}`;
    return showForm(context, page, null, { status: 400, text, fields: {} });
  }
  try {
    return await page.submit(sent);
  } catch (error) {
    const names = page.fields.map(({ name }) => name);
    return showForm(context, page, sent, refusalOf(error, names, page.about));
  }
}

/** What follows after a form, in numbered steps. */
export function Steps({
  title,
  steps,
}: {
  readonly title: string;
  readonly steps: readonly Child[];
}): JSX.Element {
  return (
    <section aria-labelledby="steps">
      <h2 id="steps">{title}</h2>
      <ol class="steps">
        {steps.map((step) => (
          <li>{step}</li>
        ))}
      </ol>
    </section>
  );
}
