import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import type { Operation } from '../../../shared/kernel/operation.ts';
import { ServiceError } from '../../../shared/lib/errors.ts';
import { confirm, type Question } from './confirm.tsx';
import { openFlash, sealFlash } from './flash.ts';
import { Form, Problem, UpLink } from './parts.tsx';
import { NO_REFUSAL, refusalOf, type Refusal } from './refusal.ts';
import type { ActionResult, PageContext, PageResult } from '../inbox/page-context.ts';
import { FlashNote, StateCard, type Flash } from './detail.tsx';
import { readForm, type FieldSpec, type SubmittedForm } from './form.tsx';
import type { State } from './list.tsx';

/** Something to do with one item. */
export interface Act<T> {
  /** The value of `act` in its form. */
  readonly name: string;
  readonly text: string | ((context: PageContext, item: T) => string);
  /** Explains the button, below its text. */
  readonly note?: string;
  /** The operation it calls: visitors whose scopes don't allow that see no button. */
  readonly needs?: Pick<Operation, 'scope' | 'effect'>;
  /** Whether to show it apart from that; the operation decides for itself. */
  readonly may?: (context: PageContext, item: T) => boolean;
  readonly asks?: (context: PageContext, item: T) => Question;
  /** Names of fields that its own form on the page has. */
  readonly takes?: readonly string[];
  /** The page itself shows the form. */
  readonly isPlaced?: true;
  /** The next page, a word for this one, why nothing was done, or null for the page above. */
  readonly run: (context: PageContext, item: T, sent: SubmittedForm) => Promise<ActResult>;
}

type ActResult = ActionResult | { readonly flash: Flash } | { readonly problem: string } | null;

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
  /** True if the item has changed since the last form, so that the form's result no longer applies. */
  readonly isPast?: boolean;
  readonly picturesFrom?: string | undefined;
}

/** Items of one kind: where each has its page, what that shows, and what can be done there. */
export interface Item<T> {
  readonly urlOf: (context: PageContext, id: string) => string;
  /** The page above, and the text of its link. */
  readonly up: (context: PageContext, id: string) => readonly [href: string, text: string];
  /** NOT_FOUND. */
  readonly find: (context: PageContext, id: string) => Promise<T>;
  readonly detail: (context: PageContext, item: T) => Detail | Promise<Detail>;
  readonly acts: readonly Act<T>[];
}

interface OpenItem<T> {
  readonly kind: Item<T>;
  readonly id: string;
  readonly item: T;
}

export async function showItem<T>(
  kind: Item<T>,
  context: PageContext,
  id: string,
): Promise<PageResult> {
  const found = { kind, id, item: await kind.find(context, id) };
  const act = kind.acts.find(({ name }) => name === context.query('step'));
  if (!act?.asks || !isOpen(context, found, act)) return shown(context, found);
  const back = kind.urlOf(context, id);
  return confirm(context, act.asks(context, found.item), { act: act.name, back });
}

/** Does what the form asks for. If that is refused, the page or the question says why. */
export async function actOnItem<T>(
  kind: Item<T>,
  context: PageContext,
  { id, body }: { readonly id: string; readonly body: string },
): Promise<ActionResult> {
  const item = await kind.find(context, id);
  const found = { kind, id, item };
  const name = new URLSearchParams(body).get('act');
  const act = kind.acts.find((one) => one.name === name);
  const question = act?.asks?.(context, item);
  const sent = act ? readAct(act, question, body) : null;
  if (!act || !sent) {
    const text = 'We couldn’t read the form. Nothing was done.';
    return shown(context, found, { status: 400, text, fields: {} });
  }
  try {
    return await leadOn(context, found, await act.run(context, item, sent));
  } catch (error) {
    // A step with fields shows what's wrong with them; any other problem stands on the item's page.
    if (!question?.fields) return shown(context, found, refusalTo(error));
    const refusal = refusalTo(error, question.fields);
    const back = kind.urlOf(context, id);
    return confirm(context, question, { act: act.name, back, sent, refusal });
  }
}

/** Null if no form of ours could send this body. */
function readAct<T>(
  { takes = [] }: Act<T>,
  { fields = [], hidden = [] }: Pick<Question, 'fields' | 'hidden'> = {},
  body: string,
): SubmittedForm | null {
  const names = hidden.map(([name]) => name);
  const sent = readForm(body, fields, ['act', ...names, ...takes]);
  return sent && names.every((name) => sent.value(name) !== undefined) ? sent : null;
}

async function leadOn<T>(
  context: PageContext,
  found: OpenItem<T>,
  done: ActResult,
): Promise<ActionResult> {
  const { kind, id } = found;
  if (done === null) return { to: kind.up(context, id)[0] };
  if ('problem' in done) {
    const refusal = { status: 409, text: done.problem, fields: {} };
    return shown(context, found, refusal);
  }
  if (!('flash' in done)) return done;
  return { to: `${kind.urlOf(context, id)}?told=${sealFlash(context, id, done.flash)}` };
}

/** Where a role or a key doesn't allow something, the page says what would. */
function refusalTo(error: unknown, fields: readonly FieldSpec[] = []): Refusal {
  if (error instanceof ServiceError && error.code === 'SCOPE_MISSING') {
    return { status: error.status, text: error.hint ?? error.message, fields: {} };
  }
  const names = fields.map(({ name }) => name);
  return refusalOf(error, names);
}

async function shown<T>(
  context: PageContext,
  found: OpenItem<T>,
  { status, text }: Refusal = NO_REFUSAL,
): Promise<PageResult> {
  const { kind, id, item } = found;
  const detail = await kind.detail(context, item);
  const { title, heading, lead, main, side, below, isPast = false, picturesFrom } = detail;
  const flash = isPast ? null : (openFlash(context, id) as Flash | null);
  const [href, up] = kind.up(context, id);
  const content = (
    <>
      <UpLink href={href} whole>
        {up}
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
        {buttons(context, found)}
      </StateCard>
      {below}
    </>
  );
  return { title, content, status, wide: true, ...(picturesFrom && { picturesFrom }) };
}

function isOpen<T>(context: PageContext, { item }: OpenItem<T>, act: Act<T>): boolean {
  return (!act.needs || context.may(act.needs)) && (act.may?.(context, item) ?? true);
}

/** The buttons of what can be done at once, then links to what needs a second step. */
function buttons<T>(context: PageContext, found: OpenItem<T>): JSX.Element {
  const { kind, id, item } = found;
  const open = kind.acts.filter((act) => !act.isPlaced && isOpen(context, found, act));
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
            <a
              class={tone === 'no' ? 'btn small no' : 'btn small'}
              href={stepUrl(kind.urlOf(context, id), one.name)}
            >
              {textOf(one)}…
            </a>
          )
        );
      })}
    </>
  );
}

/** Keeps a query that names the item. */
function stepUrl(url: string, step: string): string {
  const start = url.indexOf('?');
  return start === -1 ? `?step=${step}` : `${url.slice(start)}&step=${step}`;
}
