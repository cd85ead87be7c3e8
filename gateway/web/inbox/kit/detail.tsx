import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { Icon } from '../../pages/icons.tsx';
import { AgentText } from '../../pages/request-copy.tsx';
import { CopyField } from '../fields.tsx';
import { Chip, Fact } from '../parts.tsx';
import type { State } from './list.tsx';

type FactRow = readonly [name: Child, value: Child];

/** A card of facts, with a heading or a label for screen readers. */
export function FactsCard({
  title,
  label,
  facts,
  class: names = 'facts',
}: {
  readonly title?: string;
  readonly label?: string;
  readonly facts: readonly (FactRow | false | null)[];
  readonly class?: string;
}): JSX.Element {
  return (
    <section class="card" aria-label={title ?? label}>
      {title !== undefined && <h2>{title}</h2>}
      <dl class={names}>{facts.map((fact) => fact && <Fact name={fact[0]}>{fact[1]}</Fact>)}</dl>
    </section>
  );
}

/** An id as a fact. */
export function idFact(id: string): FactRow {
  return ['Id', <span class="exact mono">{id}</span>];
}

/** What came of a form, for the page that follows it. */
export interface Flash {
  readonly text: string;
  /** True if it didn't go well. */
  readonly isBad?: boolean;
  /** A line and a longer text from outside. */
  readonly line?: string | null;
  readonly quote?: string | null;
  /** A page of this web inbox that shows more. */
  readonly link?: { readonly href: string; readonly text: string };
  /** A value to copy. */
  readonly copy?: { readonly label: string; readonly value: string };
}

export function FlashNote({ flash }: { readonly flash: Flash }): JSX.Element {
  const { text, isBad = false, line, quote, link, copy } = flash;
  return (
    <>
      <div class={isBad ? 'note warn' : 'note good'} role="status">
        <Icon name={isBad ? 'warn' : 'yes'} />
        <div>
          <p>
            {text} {link && <a href={link.href}>{link.text}</a>}
          </p>
          {line && (
            <p>
              <AgentText text={line} reading="line" />
            </p>
          )}
          {quote && (
            <p class="quote">
              <AgentText text={quote} reading="prose" class="mono" />
            </p>
          )}
        </div>
      </div>
      {copy && (
        <section class="card" aria-label={copy.label}>
          <CopyField name="copy" {...copy} />
        </section>
      )}
    </>
  );
}

/** The state of a thing, what it means, and what to do about it. */
export function StateCard({
  title = 'State',
  state,
  children,
}: {
  readonly title?: string | undefined;
  readonly state?: State | undefined;
  readonly children?: Child;
}): JSX.Element {
  return (
    <section class="act card stack" aria-labelledby="standing">
      <h2 id="standing" class="headed">
        {title} {state && <Chip text={state[0]} tone={state[1]} />}
      </h2>
      {children}
    </section>
  );
}
