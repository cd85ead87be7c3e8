import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { AgentText, Ago, Time } from '../pages/request-copy.tsx';
import { lengthOfTime } from './time.ts';
import { Age } from '../inbox/pages/events/event-copy.tsx';
import type { PageContext } from '../inbox/page-context.ts';

// Short forms of the parts for text from outside and for times.

type Clock = Pick<PageContext, 'now'>;
/** As an operation returns it, or in milliseconds. */
type Moment = string | number;

function msOf(at: Moment): number {
  return new Date(at).getTime();
}

/** Someone else's text on one line. */
export function line(text: string, names = ''): JSX.Element {
  return <AgentText text={text} reading="line" class={names} />;
}

/** An id, a name or an address, in which every character counts. */
export function exact(text: string, names = ''): JSX.Element {
  return <AgentText text={text} reading="exact" class={names} />;
}

/** The same in a font of equal widths. */
export function mono(text: string): JSX.Element {
  return exact(text, 'mono');
}

/** An id or a hash of ours. */
export function ours(text: string): JSX.Element {
  return <span class="exact mono">{text}</span>;
}

/** Such as `14:30:05 UTC`; `none` if there is no time. */
export function time({ now }: Clock, at: Moment | null, none = 'never'): Child {
  return at === null ? none : <Time at={msOf(at)} now={now} />;
}

/** Such as `4 min ago, at 14:30:05 UTC`; `none` if there is no time. */
export function ago({ now }: Clock, at: Moment | null, none = 'not yet'): Child {
  return at === null ? none : <Ago at={msOf(at)} now={now} />;
}

/** Such as `in 4 min, at 14:30:05 UTC`; `none` if there is no time. */
export function due({ now }: Clock, at: Moment | null, none = 'never'): Child {
  if (at === null) return none;
  return (
    <>
      in {lengthOfTime(msOf(at) - now)}, at <Time at={msOf(at)} now={now} />
    </>
  );
}

/** Such as `4 min ago`. */
export function age({ now }: Clock, at: string): JSX.Element {
  return <Age at={at} now={now} />;
}

/** Such as `last used 4 min ago`; `none` if there is no time. */
export function last(context: Clock, what: string, at: string | null, none = ''): Child {
  if (at === null) return none;
  return (
    <>
      {what} {age(context, at)}
    </>
  );
}

/** What there is of the parts, with dots between. */
export function dotted(parts: readonly (Child | null | false)[]): Child {
  const there = parts.filter((part) => part !== null && part !== false && part !== '');
  return there.map((part, index) => (index === 0 ? part : <> · {part}</>));
}
