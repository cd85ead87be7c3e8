import type { JSX } from 'hono/jsx/jsx-runtime';
import type { Choice, OpenedRequest, RequestStatus } from '../../approvals/approvals.ts';
import { Document } from './document.tsx';
import { Icon } from '../ui/icons.tsx';
import { OutcomeNote } from './outcome.tsx';
import { QuorumLine } from './quorum.tsx';
import { About, Subject } from './subject.tsx';
import { AgentText, Ago, Time } from './request-copy.tsx';
import { endOf, lateSentence } from './copy.ts';

interface ResultPageProps {
  readonly opened: OpenedRequest;
  readonly status: Exclude<RequestStatus, 'pending'>;
  /** The person's choice that came too late; null if they only looked, or made the decision. */
  readonly late: Choice['verb'] | null;
  /** For the form that ends what the answer holds for others; null for a visitor who may not. */
  readonly csrf: string | null;
}

/** A request that is over: how it ended, by whom and when, and its content. */
export function ResultPage(ended: ResultPageProps): JSX.Element {
  const { request } = ended.opened;
  return (
    <Document title={endOf(request, ended.status).heading} project={request.project}>
      <ResultContent {...ended} />
    </Document>
  );
}

/** The same content for use within another page. */
export function ResultContent({ opened, status, late, csrf }: ResultPageProps): JSX.Element {
  const { request } = opened;
  const words = endOf(request, status);
  const showsDecision = status === 'modified' || status === 'answered';
  return (
    <>
      {late !== null && (
        <div class="note warn" role="alert">
          <Icon name="warn" />
          <p>
            <strong>{lateSentence(late, status, request.withdrawn !== null)}</strong>
          </p>
        </div>
      )}
      <div class={`end ${words.tone}`}>
        <Icon name={words.icon} />
        <div>
          <h1>{words.heading}</h1>
          <By opened={opened} status={status} />
          <p>{words.meaning}</p>
          {request.withdrawn !== null && (
            <p class="quote">
              <AgentText text={request.withdrawn} reading="line" />
            </p>
          )}
          {showsDecision && request.decision !== null && (
            <p class="quote summary">
              <AgentText text={request.decision} reading="prose" />
            </p>
          )}
          {request.comment !== null && (
            <p class="quote">
              Comment: <AgentText text={request.comment} reading="prose" />
            </p>
          )}
          <QuorumLine opened={opened} />
          <Lasting opened={opened} csrf={csrf} />
        </div>
      </div>
      <UnusedNote request={request} />
      <OutcomeNote opened={opened} />
      <p class="soft">This is final. You can close this page. Here is the request.</p>
      <Subject request={request} />
      <About opened={opened} />
    </>
  );
}

function UnusedNote({ request }: Pick<OpenedRequest, 'request'>): JSX.Element | null {
  if (request.unused === null) return null;
  return (
    <div class="note warn">
      <Icon name="warn" />
      <div>
        <p>
          <strong>This came too late for the agent.</strong>
        </p>
        <p class="quote">
          <AgentText text={request.unused} reading="line" />
        </p>
      </div>
    </div>
  );
}

/** Until when the answer holds for others in the session. */
function Lasting({ opened, csrf }: Pick<ResultPageProps, 'opened' | 'csrf'>): JSX.Element | null {
  const { request, now } = opened;
  const { lastsUntil, like, status } = request;
  if (lastsUntil === null || lastsUntil <= now) return null;
  const until = <Time at={lastsUntil} now={now} />;
  return (
    <>
      {status === 'denied' ? (
        <p>Whatever this session asks until {until} is denied.</p>
      ) : (
        <p>
          Until {until} this is approved in this session without asking:{' '}
          <AgentText text={like ?? ''} reading="line" />. A new policy ends that.
        </p>
      )}
      {csrf !== null && (
        <form method="post">
          <input type="hidden" name="csrf" value={csrf} />
          <button class="btn" name="verb" value="end_lasting">
            {status === 'denied' ? 'Let it ask again' : 'End this now'}
          </button>
        </form>
      )}
    </>
  );
}

function By({ opened, status }: Pick<ResultPageProps, 'opened' | 'status'>): JSX.Element {
  const { request, now } = opened;
  if (status === 'expired' && request.withdrawn === null) {
    return (
      <p>
        <Ago at={request.expiresAt} now={now} />
      </p>
    );
  }
  return (
    <p>
      {request.decidedBy !== null && (
        <>
          by{' '}
          <strong>
            <AgentText text={request.decidedBy} reading="line" />
          </strong>
        </>
      )}
      {request.decidedAt !== null && (
        <>
          {request.decidedBy !== null && ', '}
          <Ago at={request.decidedAt} now={now} />
        </>
      )}
    </p>
  );
}
