import type { Child } from 'hono/jsx';
import { Icon } from './icons.tsx';
import { Fields, type FieldSpec, type SubmittedForm } from './form.tsx';
import { Form, Problem } from './parts.tsx';
import { NO_REFUSAL, type Refusal } from './refusal.ts';
import type { PageResult, PageContext } from '../inbox/page-context.ts';

/** Asks before something is done: a second step with a way back. */
export interface Question {
  readonly heading: string;
  readonly consequences: Child;
  readonly fields?: readonly FieldSpec[];
  /** Values that the form carries unseen. */
  readonly hidden?: readonly (readonly [name: string, value: string])[];
  readonly yes: string;
  /** The button's tone (default `no`, because something ends). */
  readonly tone?: 'yes' | 'no';
}

interface Step {
  /** The value of `act` in the form. */
  readonly act: string;
  /** The URL of the previous page. */
  readonly back: string;
  /** The form as it was sent, and why it was refused. */
  readonly sent?: SubmittedForm | null;
  readonly refusal?: Refusal;
}

export function confirm(
  context: PageContext,
  { heading, consequences, fields = [], hidden = [], yes, tone = 'no' }: Question,
  { act, back, sent = null, refusal = NO_REFUSAL }: Step,
): PageResult {
  const content = (
    <section class="card stack really" aria-labelledby="really">
      <h1 id="really">
        {tone === 'no' && <Icon name="warn" />} {heading}
      </h1>
      <Problem text={refusal.text} />
      {typeof consequences === 'string' ? <p>{consequences}</p> : consequences}
      <Form context={context}>
        {hidden.map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <Fields fields={fields} sent={sent} problems={refusal.fields} />
        <button class={`btn ${tone}`} name="act" value={act}>
          {yes}
        </button>
      </Form>
      <a class="btn small" href={back} data-up>
        Cancel
      </a>
    </section>
  );
  return { title: heading, content, status: refusal.status };
}
