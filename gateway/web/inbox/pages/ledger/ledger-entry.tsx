import type { JSX } from 'hono/jsx/jsx-runtime';
import { ServiceError } from '../../../../../shared/lib/errors.ts';
import { actorWords } from '../../../../../shared/rules/actor.ts';
import type { LedgerEntry } from '../../../../../shared/rules/ledger-chain.ts';
import { actorOf, actorText, entriesOf, namesOf, type EntryProps } from './ledger-queries.ts';
import { Facts, FactsCard } from '../../../ui/detail.tsx';
import { ago, exact, line, mono, ours } from '../../../ui/text.tsx';
import { Chip, UpLink } from '../../../ui/parts.tsx';
import type { PageResult, PageContext } from '../../page-context.ts';

/** One entry, with every field that its hash covers. */
export async function showEntry(context: PageContext, id: string): Promise<PageResult> {
  const seq = /^[1-9]\d{0,14}$/.test(id) ? Number(id) : 0;
  const { items } = await entriesOf(context, { cursor: seq + 1, limit: 1 });
  const [entry] = items;
  if (entry?.seq !== seq) throw new ServiceError('NOT_FOUND');
  const names = await namesOf(context);
  const newer = await entriesOf(context, { cursor: seq + 2, limit: 1 });
  const isNewest = newer.items[0]?.seq !== seq + 1;
  const { op, outcome, code } = entry;
  const content = (
    <div class="stack">
      <UpLink href={context.at('ledger')}>All entries</UpLink>
      <h1 class="headed">
        <span class="soft">#{seq.toString()}</span> {exact(op)}
        {outcome === 'ok' ? (
          <Chip text="Done" tone="good" />
        ) : (
          <Chip text={code ?? 'Refused'} tone="bad" />
        )}
      </h1>
      <Doing context={context} entry={entry} names={names} />
      <Chain entry={entry} />
      <nav class="pager" aria-label="Neighboring entries">
        {seq > 1 && <a href={context.at('ledger', String(seq - 1))}>Previous entry</a>}
        {!isNewest && <a href={context.at('ledger', String(seq + 1))}>Next entry</a>}
      </nav>
    </div>
  );
  return { title: `Entry ${seq}`, content };
}

function Doing({ context, entry, names }: EntryProps): JSX.Element {
  const { agent, platform, subject, request_id: request } = entry;
  const id = actorOf(entry);
  const by = (
    <>
      {line(actorText(entry, names))}
      {id !== null && actorWords(id) === null && <> {thing(context, id)}</>}
    </>
  );
  return (
    <FactsCard
      label="What was done"
      facts={[
        ['When', ago(context, entry.at)],
        ['By', by],
        agent !== null && [
          'Agent',
          <>
            {line(agent)} <span class="soft">(self-reported)</span>
          </>,
        ],
        platform !== null && ['Platform', line(platform)],
        ['About', subject === null ? '–' : thing(context, subject)],
        request !== null && ['Call', mono(request)],
      ]}
    />
  );
}

const PAGES: readonly (readonly [id: RegExp, page: string])[] = [
  [/^evt_[0-9a-z]{26}$/, 'events'],
  [/^req_[0-9a-z]{26}$/, 'requests'],
  [/^chn_[0-9a-z]{26}$/, 'channels'],
  [/^key_[0-9a-z]{26}$/, 'keys'],
];

/** An id, with a link to its page if the visitor may open it. */
function thing(context: PageContext, id: string): JSX.Element {
  const page = PAGES.find(([form]) => form.test(id))?.[1];
  const isOpen = page !== undefined && context.pages.some(({ path }) => path === page);
  return isOpen ? <a href={context.at(page, id)}>{mono(id)}</a> : mono(id);
}

function Chain({ entry }: { readonly entry: LedgerEntry }): JSX.Element {
  const digests = [
    ['Hash', entry.hash],
    ['Previous hash', entry.prev_hash],
    ['Input', entry.input_digest],
    ['Result', entry.result_digest],
  ] as const;
  return (
    <section class="card stack" aria-labelledby="chain">
      <h2 id="chain">Chain</h2>
      <Facts
        facts={digests.map(([name, value]) => [name, value === null ? 'none' : ours(value)])}
      />
      <p class="soft">
        Input and result are keyed digests: the ledger never stores the data itself. The hash covers
        everything above and the previous hash, so a later change to the entry shows.
      </p>
    </section>
  );
}
