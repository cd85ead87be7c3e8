import type { Child } from 'hono/jsx';
import { Icon } from '../pages/icons.tsx';
import { Form } from './parts.tsx';
import type { PageResult, PageContext } from './page-context.ts';

interface Question {
  readonly heading: string;
  /** The address of where one came from. */
  readonly back: string;
  readonly consequences: Child;
  /** What else is to be chosen. */
  readonly fields?: Child;
  /** The value of `act` in the form, and what its button says. */
  readonly act: string;
  readonly yes: string;
  /** `no` unless said: something ends. */
  readonly tone?: 'yes' | 'no';
}

/** The question before what cannot be taken back, with the way back beside it. */
export function confirm(
  context: PageContext,
  { heading, back, consequences, fields, act, yes, tone = 'no' }: Question,
): PageResult {
  const content = (
    <section class="card stack really" aria-labelledby="really">
      <h1 id="really">
        <Icon name="warn" /> {heading}
      </h1>
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
  return { title: heading, content };
}
