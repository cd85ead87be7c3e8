import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { Icon } from './icons.tsx';
import { CopyField } from './fields.tsx';
import { Chip } from './parts.tsx';
import type { State } from './list.tsx';
import { line as lineOf, mono, ours } from './text.tsx';
import { AgentText } from '../pages/request-copy.tsx';

export type FactRow = readonly [name: Child, value: Child];

interface FactsProps {
  readonly facts: readonly (FactRow | false | null)[];
}

/** Names and values, in two columns. */
export function Facts({ facts }: FactsProps): JSX.Element {
  return (
    <dl class="facts">
      {facts.map(
        (fact) =>
          fact && (
            <>
              <dt>{fact[0]}</dt>
              <dd>{fact[1]}</dd>
            </>
          ),
      )}
    </dl>
  );
}

/** A card of facts, with a heading or a label for screen readers. */
export function FactsCard({
  title,
  label,
  children,
  facts,
}: FactsProps & {
  readonly title?: string;
  readonly label?: string;
  /** Below the facts. */
  readonly children?: Child;
}): JSX.Element {
  return (
    <section class={children ? 'card stack' : 'card'} aria-label={title ?? label}>
      {title !== undefined && <h2>{title}</h2>}
      <Facts facts={facts} />
      {children}
    </section>
  );
}

/** An id as a fact. */
export function idFact(id: string): FactRow {
  return ['Id', ours(id)];
}

const HEADER_MAX_CHARS = 2000;

/** The headers of a message from outside. */
export function Headers({
  headers,
}: {
  readonly headers: readonly (readonly [name: string, value: string])[];
}): JSX.Element {
  const facts = headers.map(([name, value]): FactRow => {
    const shown = value.slice(0, HEADER_MAX_CHARS).toWellFormed();
    return [mono(name), lineOf(shown, 'mono')];
  });
  return <Facts facts={facts} />;
}

/** Content from outside, with a line that says whose it is. */
export function Said({
  by,
  children,
}: {
  readonly by: string;
  readonly children?: Child;
}): JSX.Element {
  return (
    <figure class="said">
      <figcaption>{by}</figcaption>
      {children}
    </figure>
  );
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
          {line && <p>{lineOf(line)}</p>}
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
