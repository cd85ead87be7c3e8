import type { JSX } from 'hono/jsx/jsx-runtime';
import { ServiceError } from '../../../../shared/lib/errors.ts';
import type { LedgerEntry } from '../../../../shared/rules/ledger-chain.ts';
import { mayCall, type Scope } from '../../../../shared/lib/scopes.ts';
import { AgentText, Ago } from '../../pages/request-copy.tsx';
import { entriesOf, namesOf, type EntryProps } from '../ledger-queries.ts';
import { Chip, Fact, UpLink } from '../parts.tsx';
import type { PageResult, PageContext } from '../page-context.ts';

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
        <span class="soft">#{seq.toString()}</span> <AgentText text={op} reading="exact" />
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
  const { agent, platform, key_id: key, subject, request_id: request } = entry;
  return (
    <section class="card" aria-label="What was done">
      <dl class="facts">
        <Fact name="When">
          <Ago at={Date.parse(entry.at)} now={context.now} />
        </Fact>
        <Fact name="By">
          {key === null ? (
            'the service'
          ) : (
            <>
              {names.has(key) && (
                <>
                  <AgentText text={names.get(key) ?? ''} reading="line" />{' '}
                </>
              )}
              <Thing context={context} id={key} />
            </>
          )}
        </Fact>
        {agent !== null && (
          <Fact name="Agent">
            <AgentText text={agent} reading="line" /> <span class="soft">(self-reported)</span>
          </Fact>
        )}
        {platform !== null && (
          <Fact name="Platform">
            <AgentText text={platform} reading="line" />
          </Fact>
        )}
        <Fact name="About">
          {subject === null ? '–' : <Thing context={context} id={subject} />}
        </Fact>
        {request !== null && (
          <Fact name="Call">
            <AgentText text={request} reading="exact" class="mono" />
          </Fact>
        )}
      </dl>
    </section>
  );
}

const PAGES: readonly (readonly [id: RegExp, page: string, scope: Scope | 'any'])[] = [
  [/^evt_[0-9a-z]{26}$/, 'events', 'inbox:read'],
  [/^req_[0-9a-z]{26}$/, 'requests', 'approvals'],
  [/^chn_[0-9a-z]{26}$/, 'channels', 'approvals'],
  [/^key_[0-9a-z]{26}$/, 'keys', 'any'],
];

/** An id, with a link to its page if the visitor may open it. */
function Thing({
  context,
  id,
}: {
  readonly context: PageContext;
  readonly id: string;
}): JSX.Element {
  const text = <AgentText text={id} reading="exact" class="mono" />;
  const page = PAGES.find(([form]) => form.test(id));
  return page && mayCall(context.access.scopes, page[2]) ? (
    <a href={context.at(page[1], id)}>{text}</a>
  ) : (
    text
  );
}

function Chain({ entry }: { readonly entry: LedgerEntry }): JSX.Element {
  const { hash, prev_hash: before, input_digest: input, result_digest: result } = entry;
  return (
    <section class="card stack" aria-labelledby="chain">
      <h2 id="chain">Chain</h2>
      <dl class="facts">
        <Fact name="Hash">
          <Digest value={hash} />
        </Fact>
        <Fact name="Previous hash">
          <Digest value={before} />
        </Fact>
        <Fact name="Input">
          <Digest value={input} />
        </Fact>
        <Fact name="Result">
          <Digest value={result} />
        </Fact>
      </dl>
      <p class="soft">
        Input and result are keyed digests: the ledger never stores the data itself. The hash covers
        everything above and the previous hash, so a later change to the entry shows.
      </p>
    </section>
  );
}

function Digest({ value }: { readonly value: string | null }): JSX.Element {
  return value === null ? <>none</> : <span class="exact mono">{value}</span>;
}
