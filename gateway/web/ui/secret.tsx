import type { Child } from 'hono/jsx';
import { CopyField } from './fields.tsx';
import { Note } from './parts.tsx';
import type { PageResult } from '../inbox/page-context.ts';

interface SecretPage {
  readonly title: string;
  /** Who may know the secret, after the warning that it's shown once. */
  readonly note: Child;
  /** The secret and what goes with it, to copy. */
  readonly copy: readonly {
    readonly name: string;
    readonly label: string;
    readonly value: string;
  }[];
  /** Below the values, in the same card. */
  readonly about?: Child;
  /** What to do with them. */
  readonly after?: Child;
  readonly back: string;
}

/** A secret in the answer itself, so that no URL and no log ever contains it. People see it only on this page. */
export function secretPage({ title, note, copy, about, after, back }: SecretPage): PageResult {
  const content = (
    // A refresh would remove the secret, so this content never refreshes.
    <div class="narrow stack" data-keep>
      <h1>{title}</h1>
      <Note tone="warn">
        <strong>Copy it now.</strong> You won’t see it again. {note}
      </Note>
      <section class="card stack" aria-label="To copy">
        {copy.map((field) => (
          <CopyField {...field} />
        ))}
        {about}
      </section>
      {after}
      <div class="ways">
        <a class="btn small" href={back} data-up>
          I’ve copied it
        </a>
      </div>
    </div>
  );
  return { title, content };
}
