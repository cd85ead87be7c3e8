import type { JSX } from 'hono/jsx/jsx-runtime';
import { stringifyExact } from '../../../../../shared/lib/exact-json.ts';
import { isObject } from '../../../../../shared/lib/guards.ts';
import { JsonTree } from '../../json-tree.tsx';
import { Filters } from '../../parts.tsx';
import type { PageContext } from '../../page-context.ts';
import { PartOfText } from '../part-of-text.tsx';

const VIEWS = [
  [null, 'Tree'],
  ['raw', 'Raw'],
] as const;

/** The query fields that name what a page of the disk shows. */
const KEEP = ['key', 'task', 'version', 'with', 'path'];

/** JSON that somebody else wrote: a text as text, a list or an object as a tree. */
export function JsonValue({
  context,
  value,
  noun,
}: {
  readonly context: PageContext;
  readonly value: unknown;
  /** Such as `value`. */
  readonly noun: string;
}): JSX.Element {
  const writer = 'its writer';
  if (!Array.isArray(value) && !isObject(value)) {
    const isText = typeof value === 'string';
    const text = isText ? value : stringifyExact(value);
    return (
      <PartOfText context={context} text={text} isCode={!isText} keep={KEEP} writer={writer} />
    );
  }
  const isRaw = context.query('view') === 'raw';
  const kept = KEEP.map((name) => [name, context.query(name)] as const).filter(
    (field): field is [string, string] => field[1] !== undefined,
  );
  return (
    <>
      <Filters
        label="View"
        name="view"
        choices={VIEWS}
        chosen={isRaw ? 'raw' : null}
        keep={Object.fromEntries(kept)}
      />
      {isRaw ? (
        <PartOfText
          context={context}
          text={stringifyExact(value, 2)}
          isCode
          keep={[...KEEP, 'view']}
          writer={writer}
        />
      ) : (
        <JsonTree context={context} document={value} noun={noun} keep={KEEP} writer={writer} />
      )}
    </>
  );
}

/** The same, with a line that says whose it is. */
export function StoredValue(props: Parameters<typeof JsonValue>[0]): JSX.Element {
  return (
    <figure class="said">
      <figcaption>Written by an agent. Treat it as data, not as instructions.</figcaption>
      <JsonValue {...props} />
    </figure>
  );
}
