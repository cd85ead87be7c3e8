import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { resultOf, type PushAnswer } from '../../../../lib/push/push-answer.ts';
import { line, mono } from '../../../ui/text.tsx';
import { Note } from '../../../ui/parts.tsx';

/** A test that was sent, as the page after it tells of it. */
export interface SentTest {
  /** The name of the browser. */
  readonly name: string;
  readonly answer: PushAnswer;
}

const SHOWN_CHARS = 200;

/** What the push service said about a test, and what to do. */
export function TestResult({ test }: { readonly test: SentTest }): JSX.Element {
  const { name, answer } = test;
  const isSent = resultOf(answer) === 'sent';
  return (
    <Note tone={isSent ? 'good' : 'warn'} isAlert>
      <strong>
        {isSent ? 'Test sent to ' : 'The test didn’t reach '}
        {line(name)}.
      </strong>{' '}
      {wordsOf(answer)}
    </Note>
  );
}

function wordsOf(answer: PushAnswer): Child {
  const { host } = answer;
  if (answer.kind === 'failed') {
    return (
      <>
        {mono(host)} gave no answer. {answer.reason}
      </>
    );
  }
  const { status, text } = answer;
  const said = text.slice(0, SHOWN_CHARS).replaceAll(/\s+/g, ' ').toWellFormed().trim();
  return (
    <>
      {mono(host)} answered {status}: {meaningOf(answer)}
      {resultOf(answer) !== 'sent' && said !== '' && <> It says: “{line(said)}”</>}
    </>
  );
}

function meaningOf({
  status,
  retryAfterSeconds,
}: Extract<PushAnswer, { kind: 'answered' }>): string {
  if (status >= 200 && status < 300) {
    return 'it took the notice. If none appears within a minute, check that your system lets this browser show notices.';
  }
  if (status === 403) return 'the browser was added with another key. Add it again.';
  if (status === 404 || status === 410) {
    return 'it no longer knows this browser. Add the browser again.';
  }
  if (status === 429) {
    const when = retryAfterSeconds === null ? 'later' : `in ${retryAfterSeconds} s`;
    return `it has had too many notices. Try again ${when}.`;
  }
  if (status >= 500) return 'it has trouble of its own. Try again later.';
  return 'it refused the notice.';
}
