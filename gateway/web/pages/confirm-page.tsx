import type { JSX } from 'hono/jsx/jsx-runtime';
import type { Choice, OpenedRequest } from '../../approvals/approvals.ts';
import { Document } from './document.tsx';
import { Icon } from '../ui/icons.tsx';
import { QuorumLine } from './quorum.tsx';
import { ExpiryLine, Subject } from './subject.tsx';
import { AgentText, CautionNote, WrittenBy } from './request-copy.tsx';

interface ConfirmPageProps {
  readonly opened: OpenedRequest;
  readonly choice: Choice;
  readonly csrf: string;
  /** The sealed choice, which the form sends back unchanged. */
  readonly step: string;
}

/** The second step before approving a high risk: repeats the request and the choice, with nothing decided yet. */
export function ConfirmPage(confirmed: ConfirmPageProps): JSX.Element {
  return (
    <Document title="Approve this?" project={confirmed.opened.request.project}>
      <ConfirmContent {...confirmed} />
    </Document>
  );
}

/** The same content for use within another page. */
export function ConfirmContent({ opened, choice, csrf, step }: ConfirmPageProps): JSX.Element {
  const { request } = opened;
  const option = choice.verb === 'option' ? (request.options[choice.index] ?? null) : null;
  const comment = 'comment' in choice ? choice.comment : undefined;
  return (
    <>
      <div class="note warn">
        <Icon name="warn" />
        <p>
          <strong>High risk.</strong> Nothing has been decided yet.
        </p>
      </div>
      <h1>Approve this high-risk action?</h1>
      <Subject request={request} />
      {option !== null && (
        <>
          <CautionNote texts={[[option, 'line']]} />
          <figure class="said">
            {request.kind === 'channel' ? (
              <h2>Whose channel it is</h2>
            ) : (
              <>
                <WrittenBy label={request.agent.label} />
                <h2>Only like this</h2>
              </>
            )}
            <p class="summary">
              <AgentText text={option} reading="line" />
            </p>
          </figure>
        </>
      )}
      <section class="card stack" aria-label="Your decision">
        <QuorumLine opened={opened} />
        <ExpiryLine opened={opened} />
        {comment !== undefined && (
          <div>
            <h2>Your comment</h2>
            <AgentText text={comment} reading="prose" />
          </div>
        )}
        <Confirmation action={request.action} csrf={csrf} step={step} />
        <a class="btn" href="?">
          Cancel
        </a>
      </section>
    </>
  );
}

interface ConfirmationForm {
  readonly action: string | null;
  readonly csrf: string;
  readonly step: string;
}

function Confirmation({ action, csrf, step }: ConfirmationForm): JSX.Element {
  return (
    <form method="post">
      <input type="hidden" name="csrf" value={csrf} />
      <button class="btn yes" name="confirm" value={step}>
        Yes, approve
        {action !== null && <AgentText text={action} reading="exact" class="mono" />}
      </button>
    </form>
  );
}
