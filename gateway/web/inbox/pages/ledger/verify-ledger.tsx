import type { JSX } from 'hono/jsx/jsx-runtime';
import type { AnswerOf } from '../../../../../shared/kernel/operation.ts';
import { ledgerVerify } from '../../../../../shared/operations/ledger/verify.ts';
import { Icon } from '../../../ui/icons.tsx';
import { digitsOf } from '../../../ui/number.ts';
import { sessionCsrf } from '../../session/csrf.ts';
import { CopyField } from '../../../ui/fields.tsx';
import { time } from '../../../ui/text.tsx';
import { entriesOf } from './ledger-queries.ts';
import { Bar, Form, Heading, UpLink } from '../../../ui/parts.tsx';
import { openFlash, sealFlash } from '../../../ui/flash.ts';
import type { ActionResult, PageResult, PageContext } from '../../page-context.ts';
import { nounFor } from '../../../../../shared/lib/pluralize.ts';

/** How many entries one answer verifies; browsers wait much longer than that takes. */
const RANGE = 20_000;
const ABOUT = 'verify';

type VerifyAnswer = AnswerOf<typeof ledgerVerify>;

/** The newest entry when verification began; later entries aren't included. */
type Head = NonNullable<VerifyAnswer['head']>;

type Reason = NonNullable<VerifyAnswer['reason']>;

interface Broken {
  readonly kind: 'broken';
  readonly seq: number;
  readonly reason: Reason;
}

/** The progress of a full verification. The URL contains it sealed, so nobody can forge a result. */
type Look = { readonly head: Head | null; readonly checked: number } & (
  | { readonly kind: 'going' }
  | { readonly kind: 'holds' }
  | Broken
);

/** Verifies the next entries, or starts at the first if no verification is running. */
export async function verifyOn(context: PageContext): Promise<ActionResult> {
  const before = openFlash(context, ABOUT) as Look | null;
  const going = before?.kind === 'going' ? before : await begin(context);
  const look = await goOn(context, going);
  return { to: `${context.at('ledger', 'verify')}?told=${sealFlash(context, ABOUT, look)}` };
}

async function begin(context: PageContext): Promise<Look> {
  const { items } = await entriesOf(context, { limit: 1 });
  const [newest] = items;
  const head = newest ? { seq: newest.seq, hash: newest.hash, at: newest.at } : null;
  return { kind: 'going', head, checked: 0 };
}

async function goOn(context: PageContext, { head, checked }: Look): Promise<Look> {
  if (head === null) return { kind: 'holds', head, checked };
  const from_seq = checked + 1;
  const to_seq = Math.min(head.seq, checked + RANGE);
  const found = await context.call(ledgerVerify, { from_seq, to_seq });
  const sofar = { head, checked: checked + found.checked };
  if (!found.ok) {
    const { first_bad_seq: seq, reason } = found;
    return { kind: 'broken', seq: seq ?? from_seq, reason: reason ?? 'hash_mismatch', ...sofar };
  }
  return { kind: to_seq === head.seq ? 'holds' : 'going', ...sofar };
}

/** The progress or result of the verification. */
export function showVerified(context: PageContext): PageResult {
  const look = openFlash(context, ABOUT) as Look | null;
  const content = (
    <div class="narrow stack">
      <UpLink href={context.at('ledger')}>All entries</UpLink>
      <Heading title="Verify the ledger" />
      {look === null ? start(context) : resultOf(context, look)}
      <p class="soft">
        The ledger is tamper-evident, not tamper-proof: it shows changes but can’t prevent them.
        Someone who controls this server could cut off the end or rewrite the whole chain. You
        notice that only if you saved a hash elsewhere. Machines that run svc up save one on their
        own.
      </p>
    </div>
  );
  return { title: 'Verify the ledger', content };
}

function start(context: PageContext): JSX.Element {
  return (
    <Form context={context}>
      <p>We hash each entry again and compare it with its stored hash and with the entry before.</p>
      <button class="btn yes">Verify all entries</button>
    </Form>
  );
}

function resultOf(context: PageContext, look: Look): JSX.Element {
  if (look.kind === 'going') return progress(context, look);
  return (
    <>
      {look.kind === 'broken' ? broken(context, look) : intact(context, look)}
      <Form context={context}>
        <button class="btn small">Verify again</button>
      </Form>
    </>
  );
}

function readyForm({ inbox, session }: PageContext): string {
  return inbox.forms.makeReady(sessionCsrf(session));
}

/** The script submits this form; without the script, a person does. */
function progress(context: PageContext, { head, checked }: Look): JSX.Element {
  const total = head?.seq ?? 0;
  return (
    <section class="card stack" aria-label="Progress">
      <p role="status">
        {digitsOf(checked)} of {digitsOf(total)} {nounFor(total, 'entry', 'entries')} checked so
        far.
      </p>
      <Bar part={checked / total} tone="part" />
      <form method="post" data-send>
        <input type="hidden" name="csrf" value={readyForm(context)} />
        <button class="btn yes">Continue</button>
      </form>
      <a class="btn small" href={context.at('ledger')}>
        Stop here
      </a>
    </section>
  );
}

function intact(context: PageContext, { checked, head }: Look): JSX.Element {
  return (
    <>
      <div class="end good" role="status">
        <Icon name="yes" />
        <div>
          <h2 class="summary">Ledger intact</h2>
          <p>
            {digitsOf(checked)} {nounFor(checked, 'entry', 'entries')}, from the first to the newest
            {head !== null && <> of {time(context, head.at)}</>}.
          </p>
        </div>
      </div>
      {head !== null && (
        <section class="card stack" aria-labelledby="head">
          <h2 id="head">Save this hash</h2>
          <p>
            Entry {digitsOf(head.seq)} has this hash. Save both somewhere else. If the ledger is
            shorter later, or this entry has a different hash, someone changed its history.
          </p>
          <CopyField name="head" label={`Hash of entry ${head.seq}`} value={head.hash} />
        </section>
      )}
    </>
  );
}

const REASONS: Readonly<Record<Reason, string>> = {
  hash_mismatch: 'Its content doesn’t match its hash: it was changed after it was written.',
  link_broken: 'It doesn’t follow the entry before it: one of the two was replaced.',
  seq_gap: 'It’s missing, but the entries after it are there.',
  truncated: 'It’s missing, and so is everything after it: the end was cut off.',
};

function broken(context: PageContext, { seq, reason }: Broken): JSX.Element {
  const isThere = reason === 'hash_mismatch' || reason === 'link_broken';
  return (
    <>
      <div class="end bad" role="alert">
        <Icon name="warn" />
        <div>
          <h2 class="summary">The ledger was tampered with</h2>
          <p>
            <strong>Entry {digitsOf(seq)} doesn’t match.</strong> {REASONS[reason]} All entries
            before it are intact.
          </p>
          <p>
            Don’t trust anything from there on. Keep a copy of the data as it is, and ask the
            operator of this server.
          </p>
          <p class="mono">{reason}</p>
        </div>
      </div>
      {isThere && (
        <div class="ways">
          <a class="btn small" href={context.at('ledger', String(seq))}>
            See entry {seq.toString()}
          </a>
        </div>
      )}
    </>
  );
}
