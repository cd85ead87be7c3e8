import { randomUUID } from 'node:crypto';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { invalid } from '../../../../../shared/lib/errors.ts';
import { canSign } from '../../../../../shared/senders/sign.ts';
import { senderOf } from '../../../../../shared/senders/registry.ts';
import { sampleBody, webhookKinds } from '../../../../../shared/senders/samples.ts';
import { sourceSign } from '../../../../../shared/operations/source/sign.ts';
import type { SampleDelivery } from '../../../../lib/sample-delivery.ts';
import { Choice } from '../../../ui/fields.tsx';
import type { Flash } from '../../../ui/detail.tsx';
import type { SubmittedForm } from '../../../ui/form.tsx';
import { Form } from '../../../ui/parts.tsx';
import type { Source } from './source-queries.ts';
import type { PageContext } from '../../page-context.ts';

/** The samples that this source takes for its sender's. */
function kindsFor({ type, verification }: Source) {
  if (type === 'email' || !canSign(senderOf(verification))) return [];
  const own = webhookKinds.filter((kind) => kind.verification === verification);
  return own.length > 0 ? own : webhookKinds.filter((kind) => kind.verification === null);
}

/** Sends an event like one of the sender's, to see what agents make of it. */
export function SampleForm({
  context,
  source,
}: {
  readonly context: PageContext;
  readonly source: Source;
}): JSX.Element | null {
  const kinds = kindsFor(source);
  // Only the sender can sign its own.
  if (kinds.length === 0 && source.type !== 'email') return null;
  return (
    <Form context={context}>
      {kinds.length > 1 && (
        <Choice
          name="kind"
          label="Sample"
          value={undefined}
          choices={kinds.map(({ kind, summary }) => [kind, summary] as const)}
        />
      )}
      <button class="btn small" name="act" value="sample">
        Send a sample
      </button>
    </Form>
  );
}

/** The sample goes in where the sender's deliveries do, and becomes an event like them. */
export async function sendSample(
  context: PageContext,
  source: Source,
  { value }: SubmittedForm,
): Promise<{ readonly flash: Flash }> {
  const { token, sample } =
    source.type === 'email' ? mailFor(source) : await webhookFor(context, source, value('kind'));
  const { event_id: id } = await context.inbox.sendSample(token, sample);
  if (id === null)
    return { flash: { text: 'The sample arrived, but made no event.', isBad: true } };
  const link = { href: context.at('events', id), text: 'Open the event' };
  return { flash: { text: 'The sample arrived.', link } };
}

interface SampleTarget {
  readonly token: string;
  readonly sample: SampleDelivery;
}

async function webhookFor(
  context: PageContext,
  source: Source,
  wanted: string | undefined,
): Promise<SampleTarget> {
  const kinds = kindsFor(source);
  const kind = wanted === undefined ? kinds[0] : kinds.find((one) => one.kind === wanted);
  if (!kind) throw invalid({ path: 'kind', message: 'This source doesn’t accept such a sample.' });
  const built = kind.build();
  const made = sampleBody(built);
  const input = {
    name: source.name,
    body_base64: made.toString('base64'),
    content_type: built.headers['content-type'],
  };
  const signed = await context.call(sourceSign, input);
  const body = signed.body_base64 === null ? made : Buffer.from(signed.body_base64, 'base64');
  return {
    token: tokenOf(signed.url),
    sample: { headers: { ...built.headers, ...signed.headers }, body },
  };
}

function mailFor({ address, url }: Source): SampleTarget {
  const lines = [
    'From: Ines Ferreira <ines.ferreira@example.com>',
    `To: ${address ?? ''}`,
    'Subject: A sample from the web inbox',
    `Date: ${new Date().toUTCString().replace('GMT', '+0000')}`,
    `Message-ID: <${randomUUID()}@mail.example.com>`,
    '',
    'Hello,',
    '',
    'this is what a mail to your project looks like.',
    '',
  ];
  const body = Buffer.from(lines.join('\r\n'));
  const headers = { 'content-type': 'message/rfc822' };
  return { token: tokenOf(url ?? ''), sample: { headers, body } };
}

function tokenOf(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1);
}
