import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { ExactNumber, stringifyExact } from '../../../shared/lib/exact-json.ts';
import { nounFor } from '../../../shared/lib/pluralize.ts';
import { digitsOf } from '../pages/number.ts';
import { AgentText, CautionNote, Stretches } from '../pages/request-copy.tsx';
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
  type Folded,
} from './json-room.ts';
import { pathText, pointerOf, stepText, valueAt, type JsonKey } from './json-path.ts';
import type { PageContext } from './page-context.ts';
import { PartOfText } from './pages/part-of-text.tsx';

const LINK_MAX_CHARS = 1000;
const STEPS_MAX = 8;

interface TreeProps {
  readonly context: PageContext;
  /** JSON as somebody else wrote it. */
  readonly document: unknown;
  /** What the document is, such as `payload`. */
  readonly noun: string;
  readonly writer: string;
  /** Query fields that name what the page shows. */
  readonly keep?: readonly string[];
}

/** The query fields that the links of a tree keep. */
type Kept = Readonly<Record<string, string>>;

/** A JSON document as a tree that folds. The script adds a search and the path of a value. */
export function JsonTree({ context, document, noun, writer, keep = [] }: TreeProps): JSX.Element {
  const found = valueAt(document, context.query('at') ?? '') ?? { keys: [], value: document };
  const { keys, value } = found;
  const isText = typeof value === 'string' && keys.length > 0;
  const kept = keptOf(context, keep);
  return (
    <>
      {keys.length > 0 && <Way keys={keys} noun={noun} kept={kept} />}
      {isText ? (
        <PartOfText
          context={context}
          text={value}
          isCode
          keep={['view', 'at', ...keep]}
          writer={writer}
        />
      ) : (
        <>
          <CautionNote
            texts={[[stringifyExact(value).slice(0, TREE_CHARS), 'prose']]}
            writer={writer}
          />
          <Tools noun={noun} />
          <Tree context={context} keys={keys} value={value} kept={kept} />
        </>
      )}
    </>
  );
}

function keptOf(context: PageContext, names: readonly string[]): Kept {
  const given = names.map((name) => [name, context.query(name)] as const);
  return Object.fromEntries(
    given.filter((field): field is [string, string] => field[1] !== undefined),
  );
}

/** The way from the whole document to the part that is shown: its last steps. */
function Way({
  keys,
  noun,
  kept,
}: {
  readonly keys: readonly JsonKey[];
  readonly noun: string;
  readonly kept: Kept;
}): JSX.Element {
  const first = Math.max(0, keys.length - STEPS_MAX);
  return (
    <nav class="way" aria-label={`Place in the ${noun}`}>
      <a href={treeUrl(kept)}>{noun.charAt(0).toUpperCase() + noun.slice(1)}</a>
      {first > 0 && ' › …'}
      {keys.slice(first).map((key, index) => (
        <>
          {' › '}
          <To
            keys={index + first < keys.length - 1 ? keys.slice(0, first + index + 1) : null}
            kept={kept}
            room={LINK_MAX_CHARS}
          >
            <AgentText text={fitting(String(key), LINK_MAX_CHARS)} reading="line" class="mono" />
          </To>
        </>
      ))}
    </nav>
  );
}

/** A link to a place in the document, or only its text where the link would take more room than it has. */
function To({
  keys,
  from,
  room,
  kept,
  children,
}: {
  /** Null: no link. */
  readonly keys: readonly JsonKey[] | null;
  readonly kept: Kept;
  readonly from?: number;
  readonly room: number;
  readonly children?: Child;
}): JSX.Element {
  const href = keys && placeOf(kept, keys, from);
  const isTooLong = href === null || href.length > Math.max(room, LINE_CHARS);
  return isTooLong ? <span class="soft">{children}</span> : <a href={href}>{children}</a>;
}

function placeOf(kept: Kept, keys: readonly JsonKey[], from = 0): string {
  return treeUrl(kept, { at: pointerOf(keys), ...(from > 0 && { from: String(from) }) });
}

function treeUrl(kept: Kept, place: Kept = {}): string {
  return `?${new URLSearchParams({ ...kept, view: 'tree', ...place }).toString()}`;
}

/** Only the script shows these. */
function Tools({ noun }: { readonly noun: string }): JSX.Element {
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

function Tree({
  context,
  keys,
  value,
  kept,
}: {
  readonly context: PageContext;
  readonly keys: readonly JsonKey[];
  readonly value: unknown;
  readonly kept: Kept;
}): JSX.Element {
  const asked = Number(context.query('from') ?? 0);
  const from = Number.isInteger(asked) && asked > 0 ? asked : 0;
  const costs = new Costs();
  const openDepth = context.query('open') === 'all' ? Number.POSITIVE_INFINITY : depthOf(value);
  const isAllOpen = openDepth === Number.POSITIVE_INFINITY;
  const builder = new TreeBuilder({ openDepth, costs, kept });
  return (
    <>
      <div class="tree mono" data-tree data-base={pathText(keys)} translate="no" dir="ltr">
        {isFolded(value) ? (
          <ul>{builder.members(value, { keys, from, budget: TREE_CHARS })}</ul>
        ) : (
          <Leaf value={value} keys={keys} kept={kept} room={TREE_CHARS} />
        )}
      </div>
      {!isAllOpen && (
        <p class="ways">
          <a href={`${placeOf(kept, keys, from)}&open=all`}>Unfold all</a>
        </p>
      )}
    </>
  );
}

interface Place {
  readonly keys: readonly JsonKey[];
  /** The first member to show. */
  readonly from: number;
  /** Characters of HTML that the members may take. */
  readonly budget: number;
}

/** Builds the lines of a tree, and shares the room among the members of each level. */
class TreeBuilder {
  readonly #openDepth: number;
  readonly #costs: Costs;
  readonly #kept: Kept;

  constructor(of: { readonly openDepth: number; readonly costs: Costs; readonly kept: Kept }) {
    this.#openDepth = of.openDepth;
    this.#costs = of.costs;
    this.#kept = of.kept;
  }

  members(value: Folded, { keys, from, budget }: Place, depth = 0): Child[] {
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
      lines.push(
        <li>
          <To keys={keys} kept={this.#kept} from={next} room={budget}>
            {digitsOf(count - next)} more {nounFor(count - next, 'value')}
          </To>
        </li>,
      );
    }
    return lines;
  }

  #line(
    keys: readonly JsonKey[],
    value: unknown,
    { share, depth }: { readonly share: number; readonly depth: number },
  ): Child {
    const key = keys.at(-1) ?? '';
    const whole = stepText(key);
    const step = whole.length > Math.max(share / 2, TEXT_MIN_CHARS) ? '[…]' : whole;
    if (!isFolded(value)) {
      return (
        <li data-k={step}>
          <Key name={key} room={share} />
          <Leaf value={value} keys={keys} kept={this.#kept} room={share} />
        </li>
      );
    }
    const { count } = membersOf(value);
    const room = share - LINE_CHARS * 2 - keyCost(key);
    const summary = (
      <>
        <Key name={key} room={share} /> <span class="soft">{sizeText(value, count)}</span>
      </>
    );
    if (count === 0) return <li data-k={step}>{summary}</li>;
    if (room < LINE_CHARS / 2) {
      return (
        <li data-k={step}>
          {summary}{' '}
          <To keys={keys} kept={this.#kept} room={share}>
            Open
          </To>
        </li>
      );
    }
    return (
      <li data-k={step}>
        <details open={depth + 1 < this.#openDepth}>
          <summary>{summary}</summary>
          <ul>{this.members(value, { keys, from: 0, budget: room }, depth + 1)}</ul>
        </details>
      </li>
    );
  }
}

function sizeText(value: Folded, count: number): string {
  if (count === 0) return Array.isArray(value) ? '[ ]' : '{ }';
  const text = `${digitsOf(count)} ${nounFor(count, Array.isArray(value) ? 'item' : 'field')}`;
  return Array.isArray(value) ? `[ ${text} ]` : `{ ${text} }`;
}

function Key({ name, room }: { readonly name: JsonKey; readonly room: number }): JSX.Element {
  return (
    <span class="k">
      <Stretches text={fitting(String(name), room / 4)} reading="line" />
    </span>
  );
}

function Leaf({
  value,
  keys,
  kept,
  room,
}: {
  readonly value: unknown;
  readonly keys: readonly JsonKey[];
  readonly kept: Kept;
  readonly room: number;
}): JSX.Element {
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
      {shown.length < value.length && (
        <To keys={keys} kept={kept} room={room}>
          … all {digitsOf(value.length)} characters
        </To>
      )}
    </>
  );
}
