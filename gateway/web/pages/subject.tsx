import type { JSX } from 'hono/jsx/jsx-runtime';
import type { OpenedRequest, RequestView } from '../../approvals/approvals.ts';
import { Bars, Icon } from '../ui/icons.tsx';
import { digitsOf } from '../ui/number.ts';
import type { TextKind } from './text.ts';
import { lengthOfTime } from '../ui/time.ts';
import {
  AgentText,
  Ago,
  CautionNote,
  LongText,
  Stretches,
  Time,
  WrittenBy,
} from './request-copy.tsx';
import { threadCounts } from '../../approvals/thread-text.ts';
import { pluralize } from '../../../shared/lib/pluralize.ts';

const RISKS = { low: 'Low', medium: 'Medium', high: 'High' } as const;

/** The request in the agent's words, separate from ours. */
export function Subject({ request }: { readonly request: RequestView }): JSX.Element {
  const { agent, kind, details, note } = request;
  const exactDetails = kind === 'email_send' || kind === 'file_url';
  return (
    <>
      <CautionNote texts={textsOf(request)} />
      <Warnings warnings={request.warnings} kind={request.kind} />
      <figure class="said">
        <WrittenBy label={agent.label} />
        <Summary request={request} />
        <Bound request={request} />
        <Facts request={request} />
        {note !== null && <Passage title="Note" text={note} mono={false} />}
        {details !== null && <Passage title="Details" text={details} mono={exactDetails} />}
        <Diff lines={request.diff} />
      </figure>
    </>
  );
}

/** Longer questions appear in normal text size. */
const HEADLINE_MAX_CHARS = 300;

/** The first thing to read: one line, or a question, which may be long. */
function Summary({ request }: { readonly request: RequestView }): JSX.Element {
  const { kind, summary } = request;
  if (kind !== 'question') {
    return (
      <p class="summary">
        <AgentText text={summary} reading="line" />
      </p>
    );
  }
  return (
    <div class={summary.length > HEADLINE_MAX_CHARS ? 'question' : 'summary'}>
      <LongText text={summary} mono={false} />
    </div>
  );
}

/** What the approval binds: all of it, as it decides what happens. */
function Bound({ request }: { readonly request: RequestView }): JSX.Element | null {
  const { bound, status } = request;
  if (bound === null) return null;
  return (
    <div class="text">
      <h2>{status === 'pending' ? 'Exactly this will be done' : 'The exact values'}</h2>
      {'rows' in bound ? (
        <dl class="facts bound">
          {bound.rows.map(([name, value]) => (
            <>
              <dt>
                <AgentText text={name} reading="exact" />
              </dt>
              <dd>
                <AgentText text={value} reading="exact" />
              </dd>
            </>
          ))}
        </dl>
      ) : (
        <DiffLines lines={jsonLines(bound.json)} />
      )}
    </div>
  );
}

/** With the margin of a line that no change touches. */
function jsonLines(json: string): string[] {
  return json.split('\n').map((line) => `  ${line}`);
}

/** The key facts by which a person recognizes the request. */
function Facts({ request }: { readonly request: RequestView }): JSX.Element | null {
  const { action, amount, risk } = request;
  if (action === null && amount === null && risk === null) return null;
  return (
    <dl class="facts">
      {action !== null && (
        <>
          <dt>Action</dt>
          <dd>
            <AgentText text={action} reading="exact" />
          </dd>
        </>
      )}
      {amount !== null && (
        <>
          <dt>Amount</dt>
          <dd class="exact">{digitsOf(amount)}</dd>
        </>
      )}
      {risk !== null && (
        <>
          <dt>Risk</dt>
          <dd>
            <span class={`risk ${risk}`}>
              <Bars level={risk} />
              {RISKS[risk]}
            </span>
          </dd>
        </>
      )}
    </dl>
  );
}

function Passage({
  title,
  text,
  mono,
}: {
  readonly title: string;
  readonly text: string;
  readonly mono: boolean;
}): JSX.Element {
  return (
    <div class="text">
      <h2>{title}</h2>
      <LongText text={text} mono={mono} />
    </div>
  );
}

const WARNED: Partial<Record<RequestView['kind'], string>> = {
  policy: 'Found when the rules were checked',
  approval: 'The amounts differ',
};

interface WarningsProps {
  readonly warnings: readonly string[];
  readonly kind: RequestView['kind'];
}

/** The results of our own checks. They contain rule ids and recipients as the agent wrote them. */
function Warnings({ warnings, kind }: WarningsProps): JSX.Element | null {
  if (warnings.length === 0) return null;
  return (
    <div class="note warn">
      <Icon name="warn" />
      <div>
        <p>
          <strong>{WARNED[kind] ?? 'Check before sending'}</strong>
        </p>
        <ul>
          {warnings.map((warning) => (
            <li>
              <AgentText text={warning} reading="line" />
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

const DIFF_OPEN_LINES = 40;

function Diff({ lines }: { readonly lines: readonly string[] }): JSX.Element | null {
  if (lines.length === 0) return null;
  const folded = lines.slice(DIFF_OPEN_LINES);
  return (
    <div class="text">
      <h2>Changes: + added, - removed</h2>
      <DiffLines lines={lines.slice(0, DIFF_OPEN_LINES)} />
      {folded.length > 0 && (
        <details>
          <summary>Show {pluralize(folded.length, 'more line')}</summary>
          <DiffLines lines={folded} />
        </details>
      )}
    </div>
  );
}

/** A change line by line: `+ …`, `- …` and `  …`. */
export function DiffLines({ lines }: { readonly lines: readonly string[] }): JSX.Element {
  return (
    <ul class="diff" translate="no">
      {lines.map((line) => (
        <li class={classOfLine(line)}>
          <Stretches text={line} reading="code" />
        </li>
      ))}
    </ul>
  );
}

function classOfLine(line: string): string {
  if (line.startsWith('+')) return 'add';
  return line.startsWith('-') ? 'cut' : 'same';
}

/** What the agent says of itself. */
function Claimed({ label, platform }: OpenedRequest['request']['agent']): JSX.Element {
  return (
    <>
      {label === null ? (
        'an unnamed agent'
      ) : (
        <>
          calls itself <AgentText text={label} reading="line" />
        </>
      )}
      {platform !== 'unknown' && (
        <>
          , on <AgentText text={platform} reading="line" />
        </>
      )}
    </>
  );
}

/** Where the request comes from and how to recognize it; separates proven facts from the agent's claims. */
export function About({
  opened,
  keyHref = null,
}: {
  readonly opened: OpenedRequest;
  /** The page of the agent's key, if the visitor may open it. */
  readonly keyHref?: string | null;
}): JSX.Element {
  const { request, channel, now } = opened;
  const key = <AgentText text={request.keyName} reading="line" />;
  return (
    <section class="about card" aria-labelledby="about">
      <h2 id="about">About this request</h2>
      <dl class="facts">
        <dt>Asked</dt>
        <dd>
          <Ago at={request.createdAt} now={now} />
        </dd>
        <dt>By</dt>
        <dd>
          <Claimed {...request.agent} />
        </dd>
        <dt>Key</dt>
        <dd>{keyHref === null ? key : <a href={keyHref}>{key}</a>}</dd>
        {request.event !== null && (
          <>
            <dt>Event</dt>
            <dd>
              <AgentText text={request.event.type} reading="exact" /> from{' '}
              <AgentText text={request.event.source} reading="line" />
              <br />
              <span class="exact mono">{request.event.id}</span>
            </dd>
          </>
        )}
        <dt>Fingerprint</dt>
        <dd>
          <span class="exact mono">{request.fingerprint.replaceAll(/(.{4})(?=.)/g, '$1 ')}</span>
          <br />
          <span class="soft">the same in every message about this request</span>
        </dd>
        <dt>To</dt>
        <dd>
          <AgentText text={channel.label} reading="line" />
        </dd>
      </dl>
    </section>
  );
}

/** Such as `Expires in 3 h, at 14:30:05 UTC`. */
export function ExpiryLine({ opened }: { readonly opened: OpenedRequest }): JSX.Element {
  const { now, request } = opened;
  return (
    <p class="soft">
      Expires in {lengthOfTime(request.expiresAt - now)}, at{' '}
      <Time at={request.expiresAt} now={now} />
    </p>
  );
}

/** Such as `shop on laptop: 3 asked, 2 allowed`. */
export function ThreadLine({
  request: { thread },
}: {
  readonly request: RequestView;
}): JSX.Element | null {
  if (thread === null) return null;
  return (
    <p class="soft">
      <AgentText text={thread.name} reading="line" />: {threadCounts(thread)}
    </p>
  );
}

function textsOf(request: RequestView): (readonly [string, TextKind])[] {
  const texts: (readonly [string | null, TextKind])[] = [
    [request.summary, request.kind === 'question' ? 'prose' : 'line'],
    [request.action, 'exact'],
    [request.details, 'prose'],
    [request.note, 'prose'],
    [request.agent.label, 'line'],
    [request.thread?.name ?? null, 'line'],
    [request.like, 'line'],
    [request.suggestedRule, 'code'],
    ...boundTexts(request),
    ...request.options.map((option) => [option, 'line'] as const),
    ...request.diff.map((line) => [line, 'code'] as const),
  ];
  return texts.flatMap(([text, reading]) => (text === null ? [] : [[text, reading] as const]));
}

function boundTexts({ bound, event }: RequestView): (readonly [string, TextKind])[] {
  const type = event === null ? [] : [[event.type, 'exact'] as const];
  if (bound === null) return type;
  const texts =
    'rows' in bound
      ? bound.rows.flat().map((text) => [text, 'exact'] as const)
      : jsonLines(bound.json).map((line) => [line, 'code'] as const);
  return [...type, ...texts];
}
