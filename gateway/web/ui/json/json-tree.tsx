import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { ExactNumber, stringifyExact } from '../../../../shared/lib/json/exact-json.ts';
import { nounFor } from '../../../../shared/lib/pluralize.ts';
import { digitsOf } from '../number.ts';
import { CautionNote, Stretches } from '../../pages/request-copy.tsx';
import {
  Costs,
  depthOf,
  fitting,
  isFolded,
  keyCost,
  levelOf,
  LINE_CHARS,
  membersOf,
  TEXT_MIN_CHARS,
  TREE_CHARS,
  type JsonContainer,
} from './json-budget.ts';
import { pathText, pointerOf, stepText, valueAt, type JsonKey } from './json-path.ts';
import { keptQuery, queryUrl, type Query } from '../query.ts';
import { line } from '../text.tsx';
import type { PageContext } from '../../inbox/page-context.ts';
import { PartOfText } from '../../inbox/pages/events/part-of-text.tsx';

const LINK_MAX_CHARS = 1000;
const STEPS_MAX = 8;

type Keys = readonly JsonKey[];

/** A JSON document as a tree that folds. The script adds a search and the path of a value. */
export function JsonTree({
  context,
  document,
  noun,
  writer,
  keep = [],
}: {
  readonly context: PageContext;
  /** JSON as somebody else wrote it. */
  readonly document: unknown;
  /** What the document is, such as `payload`. */
  readonly noun: string;
  readonly writer: string;
  /** Query fields that name what the page shows. */
  readonly keep?: readonly string[];
}): JSX.Element {
  const found = valueAt(document, context.query('at') ?? '') ?? { keys: [], value: document };
  const { keys, value } = found;
  const asked = Number(context.query('from') ?? 0);
  const from = Number.isInteger(asked) && asked > 0 ? asked : 0;
  const isAllOpen = context.query('open') === 'all';
  const depth = isAllOpen ? Number.POSITIVE_INFINITY : depthOf(value);
  const tree = new Tree(keptQuery(context, keep), depth);
  const kept = ['view', 'at', ...keep];
  return (
    <>
      {keys.length > 0 && tree.way(keys, noun)}
      {typeof value === 'string' && keys.length > 0 ? (
        <PartOfText context={context} text={value} isCode keep={kept} writer={writer} />
      ) : (
        <>
          <CautionNote
            texts={[[stringifyExact(value).slice(0, TREE_CHARS), 'prose']]}
            writer={writer}
          />
          {tools(noun)}
          {tree.whole(value, keys, from)}
        </>
      )}
    </>
  );
}

/** Only the script shows these. */
function tools(noun: string): JSX.Element {
  return (
    <div class="treetools" data-tree-tools>
      <input
        id="tree-search"
        type="search"
        data-pick
        aria-label={`Search in this ${noun}`}
        placeholder={`Search in this ${noun}`}
        autocomplete="off"
        spellcheck={false}
      />
      <span id="tree-hits" class="soft" role="status" />
      <input id="tree-path" readonly value="." aria-label="Path of the selected value" dir="ltr" />
      <button type="button" class="btn small" data-copy="tree-path">
        Copy path
      </button>
    </div>
  );
}

interface TreePosition {
  readonly keys: Keys;
  /** The first member to show. */
  readonly from: number;
  /** Characters of HTML that the members may take. */
  readonly budget: number;
}

/** Builds the lines of a tree, and shares the room among the members of each level. */
class Tree {
  /** The query fields that links keep. */
  readonly #kept: Query;
  readonly #openDepth: number;
  readonly #costs = new Costs();

  constructor(kept: Query, openDepth: number) {
    this.#kept = kept;
    this.#openDepth = openDepth;
  }

  /** The way from the whole document to the part that is shown: its last steps. */
  way(keys: Keys, noun: string): JSX.Element {
    const first = Math.max(0, keys.length - STEPS_MAX);
    return (
      <nav class="way" aria-label={`Place in the ${noun}`}>
        <a href={this.#url({})}>{noun.charAt(0).toUpperCase() + noun.slice(1)}</a>
        {first > 0 && ' › …'}
        {keys.slice(first).map((key, index) => {
          const above = keys.slice(0, first + index + 1);
          const name = line(fitting(String(key), LINK_MAX_CHARS), 'mono');
          return (
            <>
              {' › '}
              {above.length < keys.length ? (
                this.#to(above, name, LINK_MAX_CHARS)
              ) : (
                <span class="soft">{name}</span>
              )}
            </>
          );
        })}
      </nav>
    );
  }

  whole(value: unknown, keys: Keys, from: number): JSX.Element {
    return (
      <>
        <div class="tree mono" data-tree data-base={pathText(keys)} translate="no" dir="ltr">
          {isFolded(value) ? (
            <ul>{this.#members(value, { keys, from, budget: TREE_CHARS })}</ul>
          ) : (
            this.#leaf(value, keys, TREE_CHARS)
          )}
        </div>
        {this.#openDepth !== Number.POSITIVE_INFINITY && (
          <p class="ways">
            <a href={`${this.#placeUrl(keys, from)}&open=all`}>Unfold all</a>
          </p>
        )}
      </>
    );
  }

  #members(value: JsonContainer, { keys, from, budget }: TreePosition, depth = 0): Child[] {
    const { shown, count } = membersOf(value, from);
    const costs = shown.map(([key, member]) => LINE_CHARS + keyCost(key) + this.#costs.of(member));
    const most = levelOf(costs, budget);
    const lines: Child[] = [];
    let left = budget;
    for (const [index, [key, member]] of shown.entries()) {
      if (left < LINE_CHARS) break;
      const share = Math.max(Math.min(costs[index] ?? 0, most), LINE_CHARS);
      lines.push(this.#line([...keys, key], member, { share, depth }));
      left -= share;
    }
    const next = from + lines.length;
    if (next < count) {
      const more = `${digitsOf(count - next)} more ${nounFor(count - next, 'value')}`;
      lines.push(<li>{this.#to(keys, more, budget, next)}</li>);
    }
    return lines;
  }

  #line(
    keys: Keys,
    value: unknown,
    { share, depth }: { readonly share: number; readonly depth: number },
  ): Child {
    const key = keys.at(-1) ?? '';
    const whole = stepText(key);
    const step = whole.length > Math.max(share / 2, TEXT_MIN_CHARS) ? '[…]' : whole;
    const name = (
      <span class="k">
        <Stretches text={fitting(String(key), share / 4)} reading="line" />
      </span>
    );
    if (!isFolded(value)) {
      return (
        <li data-k={step}>
          {name}
          {this.#leaf(value, keys, share)}
        </li>
      );
    }
    const { count } = membersOf(value);
    const room = share - LINE_CHARS * 2 - keyCost(key);
    const summary = (
      <>
        {name} <span class="soft">{sizeText(value, count)}</span>
      </>
    );
    if (count === 0) return <li data-k={step}>{summary}</li>;
    if (room < LINE_CHARS / 2) {
      return (
        <li data-k={step}>
          {summary} {this.#to(keys, 'Open', share)}
        </li>
      );
    }
    return (
      <li data-k={step}>
        <details open={depth + 1 < this.#openDepth}>
          <summary>{summary}</summary>
          <ul>{this.#members(value, { keys, from: 0, budget: room }, depth + 1)}</ul>
        </details>
      </li>
    );
  }

  #leaf(value: unknown, keys: Keys, room: number): JSX.Element {
    if (typeof value !== 'string') {
      const text = value instanceof ExactNumber ? value.text : String(value);
      return <span class="v n">{text}</span>;
    }
    const shown = fitting(value, room);
    return (
      <>
        <span class="v">
          <Stretches text={shown} reading="prose" />
        </span>
        {shown.length < value.length &&
          this.#to(keys, `… all ${digitsOf(value.length)} characters`, room)}
      </>
    );
  }

  /** A link to a place in the document, or only its text where the link would take more room than it has. */
  #to(keys: Keys, text: Child, room: number, from = 0): JSX.Element {
    const href = this.#placeUrl(keys, from);
    const isTooLong = href.length > Math.max(room, LINE_CHARS);
    return isTooLong ? <span class="soft">{text}</span> : <a href={href}>{text}</a>;
  }

  #placeUrl(keys: Keys, from: number): string {
    return this.#url({ at: pointerOf(keys), ...(from > 0 && { from: String(from) }) });
  }

  #url(place: Query): string {
    return queryUrl({ ...this.#kept, view: 'tree', ...place });
  }
}

function sizeText(value: JsonContainer, count: number): string {
  if (count === 0) return Array.isArray(value) ? '[ ]' : '{ }';
  const text = `${digitsOf(count)} ${nounFor(count, Array.isArray(value) ? 'item' : 'field')}`;
  return Array.isArray(value) ? `[ ${text} ]` : `{ ${text} }`;
}
