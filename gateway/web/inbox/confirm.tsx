import type { Child } from 'hono/jsx';
import { Icon } from '../pages/icons.tsx';
import { Form, Problem } from './parts.tsx';
import { NO_REFUSAL, type Refusal } from './refusal.ts';
import type { PageResult, PageContext } from './page-context.ts';

interface Question {
  readonly heading: string;
  /** The URL of the previous page. */
  readonly back: string;
  readonly consequences: Child;
  /** Further choices in the form. */
  readonly fields?: Child;
  /** The value of `act` in the form, and the button's text. */
  readonly act: string;
  readonly yes: string;
  /** The button's tone (default `no`, because something ends). */
  readonly tone?: 'yes' | 'no';
  /** Why the form was refused. */
  readonly refusal?: Refusal;
}

/** Asks before an action that can't be undone, with a way back. */
export function confirm(
  context: PageContext,
  { heading, back, consequences, fields, act, yes, tone = 'no', refusal = NO_REFUSAL }: Question,
): PageResult {
  const content = (
    <section class="card stack really" aria-labelledby="really">
      <h1 id="really">
        {tone === 'no' && <Icon name="warn" />} {heading}
      </h1>
      <Problem text={refusal.text} />
      {consequences}
      <Form context={context}>
        {fields}
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
