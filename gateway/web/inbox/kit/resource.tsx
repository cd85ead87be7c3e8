import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { ServiceError } from '../../../../shared/lib/errors.ts';
import { confirm } from '../confirm.tsx';
import { openFlash, sealFlash } from '../flash.ts';
import { Form, Problem, UpLink } from '../parts.tsx';
import { NO_REFUSAL, refusalOf, type Refusal } from '../refusal.ts';
import type { ActionResult, PageContext, PageResult, UiPage } from '../page-context.ts';
import { FlashNote, StateCard, type Flash } from './detail.tsx';
import {
  Fields,
  readForm,
  showForm,
  submitForm,
  type FieldSpec,
  type FormPage,
  type Sent,
} from './form.tsx';
import type { State } from './list.tsx';

/** Asks before something is done: a second step with a way back. */
export interface Question {
  readonly heading: string;
  readonly consequences: Child;
  readonly fields?: readonly FieldSpec[];
  readonly yes: string;
  /** The button's tone (default `no`, because something ends). */
  readonly tone?: 'yes' | 'no';
}

/** Something to do with one item. */
interface Act<T> {
  /** The value of `act` in its form. */
  readonly name: string;
  readonly text: string | ((context: PageContext, item: T) => string);
  /** Explains the button, below its text. */
  readonly note?: string;
  /** Whether to show it; the operation decides for itself. */
  readonly may?: (context: PageContext, item: T) => boolean;
  readonly asks?: (context: PageContext, item: T) => Question;
  /** Names of fields that its own form on the page has. */
  readonly takes?: readonly string[];
  /** The page itself shows the form. */
  readonly isPlaced?: true;
  /** The next page, a word for this one, or null for the list. */
  readonly run: (
    context: PageContext,
    item: T,
    sent: Sent,
  ) => Promise<ActionResult | { readonly flash: Flash } | null>;
}

/** What the page of one item shows. */
export interface Detail {
  /** The title of the browser tab. */
  readonly title: string;
  readonly heading: Child;
  readonly lead?: Child;
  readonly main: Child;
  /** The second column: its title, a state, and what that means; the buttons follow. */
  readonly side: { readonly title?: string; readonly state?: State; readonly lines?: Child };
  readonly below?: Child;
  /** True if the item has moved on, so that what came of the last form no longer holds. */
  readonly isPast?: boolean;
}

/** Things of one kind: their list, the form for a new one, and the page of each. */
export interface Resource<T> extends Omit<UiPage, 'show' | 'act'> {
  /** The link from an item to the list, such as `All keys`. */
  readonly all: string;
  readonly list: (context: PageContext) => Promise<PageResult>;
  /** The form that the query asks for; null if it asks for none, or the visitor may not. */
  readonly form?: (context: PageContext) => FormPage | null | Promise<FormPage>;
  /** NOT_FOUND. */
  readonly find: (context: PageContext, id: string) => Promise<T>;
  readonly detail: (context: PageContext, item: T) => Detail | Promise<Detail>;
  readonly acts: readonly Act<T>[];
}

export function resourcePage<T>(resource: Resource<T>): UiPage {
  const { path, title, group, setting, scope, topics } = resource;
  return {
    path,
    title,
    group,
    ...(setting && { setting }),
    scope,
    topics,
    show: (context) => show(resource, context),
    act: (context, body) => act(resource, context, body),
  };
}

async function show<T>(resource: Resource<T>, context: PageContext): Promise<PageResult> {
  const { id } = context;
  if (id === null) {
    const form = (await resource.form?.(context)) ?? null;
    return form === null ? resource.list(context) : showForm(context, form);
  }
  const item = await resource.find(context, id);
  const step = resource.acts.find(({ name }) => name === context.query('step'));
  if (step?.asks && (step.may?.(context, item) ?? true)) {
    return ask(resource, context, { act: step, question: step.asks(context, item) });
  }
  return showItem(resource, context, item);
}

async function act<T>(
  resource: Resource<T>,
  context: PageContext,
  body: string,
): Promise<ActionResult> {
  const { id } = context;
  if (id !== null) return actOn(resource, context, { id, body });
  const form = (await resource.form?.(context)) ?? null;
  return form === null ? { to: context.at(resource.path) } : submitForm(context, form, body);
}

async function actOn<T>(
  resource: Resource<T>,
  context: PageContext,
  { id, body }: { readonly id: string; readonly body: string },
): Promise<ActionResult> {
  const item = await resource.find(context, id);
  const name = new URLSearchParams(body).get('act');
  const wanted = resource.acts.find((one) => one.name === name);
  const question = wanted?.asks?.(context, item);
  const sent = readForm(body, question?.fields ?? [], ['act', ...(wanted?.takes ?? [])]);
  if (!wanted || !sent) {
    const text = 'We couldn’t read the form. Nothing was done.';
    return showItem(resource, context, item, { status: 400, text, fields: {} });
  }
  try {
    return leadOn(resource, context, await wanted.run(context, item, sent));
  } catch (error) {
    // A step with fields shows what's wrong with them; any other problem stands on the item's page.
    if (!question?.fields) return showItem(resource, context, item, refusalTo(error));
    const refusal = refusalTo(error, question.fields);
    return ask(resource, context, { act: wanted, question, sent, refusal });
  }
}

function leadOn<T>(
  { path }: Resource<T>,
  context: PageContext,
  done: Awaited<ReturnType<Act<T>['run']>>,
): ActionResult {
  if (done === null) return { to: context.at(path) };
  if (!('flash' in done)) return done;
  const id = context.id ?? '';
  return { to: `${context.at(path, id)}?told=${sealFlash(context, id, done.flash)}` };
}

/** Where a role or a key doesn't allow something, the page says what would. */
function refusalTo(error: unknown, fields: readonly FieldSpec[] = []): Refusal {
  if (error instanceof ServiceError && error.code === 'SCOPE_MISSING') {
    return { status: error.status, text: error.hint ?? error.message, fields: {} };
  }
  const names = fields.map(({ name }) => name);
  return refusalOf(error, names);
}

interface Asked<T> {
  readonly act: Act<T>;
  readonly question: Question;
  readonly sent?: Sent;
  readonly refusal?: Refusal;
}

/** The second step of an act. */
function ask<T>(
  { path }: Resource<T>,
  context: PageContext,
  { act: { name }, question, sent, refusal = NO_REFUSAL }: Asked<T>,
): PageResult {
  const { fields = [], ...rest } = question;
  return confirm(context, {
    ...rest,
    back: context.at(path, context.id ?? undefined),
    fields: <Fields fields={fields} sent={sent ?? null} problems={refusal.fields} />,
    act: name,
    refusal,
  });
}

async function showItem<T>(
  resource: Resource<T>,
  context: PageContext,
  item: T,
  { status, text }: Refusal = NO_REFUSAL,
): Promise<PageResult> {
  const detail = await resource.detail(context, item);
  const { title, heading, lead, main, side, below, isPast = false } = detail;
  const flash = isPast ? null : (openFlash(context, context.id ?? '') as Flash | null);
  const content = (
    <>
      <UpLink href={context.at(resource.path)} whole>
        {resource.all}
      </UpLink>
      <div class="stack">
        <h1 class="headed">{heading}</h1>
        {lead !== undefined && <p class="lead">{lead}</p>}
        <Problem text={text} />
        {flash !== null && <FlashNote flash={flash} />}
        {main}
      </div>
      <StateCard title={side.title} state={side.state}>
        {side.lines}
        <Acts context={context} item={item} acts={resource.acts} />
      </StateCard>
      {below}
    </>
  );
  return { title, content, status, wide: true };
}

/** The buttons of what can be done at once, then links to what needs a second step. */
function Acts<T>({
  context,
  item,
  acts,
}: {
  readonly context: PageContext;
  readonly item: T;
  readonly acts: readonly Act<T>[];
}): JSX.Element {
  const open = acts.filter(({ isPlaced, may }) => !isPlaced && (may?.(context, item) ?? true));
  const direct = open.filter(({ asks }) => !asks);
  const textOf = ({ text }: Act<T>): string =>
    typeof text === 'string' ? text : text(context, item);
  return (
    <>
      {direct.length > 0 && (
        <Form context={context}>
          {direct.map((one) => (
            <button class="btn" name="act" value={one.name}>
              {textOf(one)}
              {one.note !== undefined && <small>{one.note}</small>}
            </button>
          ))}
        </Form>
      )}
      {open.map((one) => {
        const tone = one.asks?.(context, item).tone ?? 'no';
        return (
          one.asks && (
            <a class={tone === 'no' ? 'btn small no' : 'btn small'} href={`?step=${one.name}`}>
              {textOf(one)}…
            </a>
          )
        );
      })}
    </>
  );
}
