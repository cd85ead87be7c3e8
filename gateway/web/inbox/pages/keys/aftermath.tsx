import type { JSX } from 'hono/jsx/jsx-runtime';
import type { LeftThing, MadeThing } from '../../../../../shared/operations/access/view.ts';
import { exact } from '../../../ui/text.tsx';
import type { PageResult } from '../../page-context.ts';

const KINDS: Readonly<Record<MadeThing['kind'], string>> = {
  key: 'Key',
  route: 'Route',
  invitation: 'Invitation',
  member: 'Member',
  channel: 'Channel',
  source: 'Source',
  request: 'Request',
  email: 'Mail on its way',
  file_link: 'Link to a file',
  upload: 'Upload',
  browser: 'Browser',
  callback_secret: 'Secret of callbacks',
};

/** Things that somebody made, each with how to end it where it goes on. */
function MadeList({
  things,
}: {
  readonly things: readonly (MadeThing | LeftThing)[];
}): JSX.Element {
  return (
    <ul>
      {things.map((thing) => (
        <li>
          {KINDS[thing.kind]} {exact(thing.name)}
          {'hint' in thing && <div class="soft">{exact(thing.hint)}</div>}
        </li>
      ))}
    </ul>
  );
}

/** The same as a card; nothing where there are none. */
export function MadeCard({
  title,
  things,
}: {
  readonly title: string;
  readonly things: readonly (MadeThing | LeftThing)[];
}): JSX.Element | null {
  if (things.length === 0) return null;
  return (
    <section class="card stack" aria-label={title}>
      <h2>{title}</h2>
      <MadeList things={things} />
    </section>
  );
}

interface RevocationResult {
  readonly ended: readonly MadeThing[];
  readonly left: readonly LeftThing[];
}

/** What ended with a key or a member, and what goes on; null where there is nothing to say. */
export function aftermathPage(
  title: string,
  { ended, left }: RevocationResult,
  back: string,
): PageResult | null {
  if (ended.length + left.length === 0) return null;
  const content = (
    // A refresh would ask for it again, so this content never refreshes.
    <div class="narrow stack" data-keep>
      <h1>{title}</h1>
      <MadeCard title="Ended too" things={ended} />
      <MadeCard title="Goes on: please check" things={left} />
      <div class="ways">
        <a class="btn small" href={back} data-up>
          Done
        </a>
      </div>
    </div>
  );
  return { title, content };
}
