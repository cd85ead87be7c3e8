import { randomUUID } from 'node:crypto';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { invalid } from '../../../../shared/lib/errors.ts';
import { stringifyExact } from '../../../../shared/lib/exact-json.ts';
import { webhookKinds } from '../../../../shared/lib/samples/kinds.ts';
import { sourceSign } from '../../../../shared/operations/source/sign.ts';
import type { SampleDelivery } from '../../../lib/sample-delivery.ts';
import { Choice } from '../fields.tsx';
import type { Flash } from '../kit/detail.tsx';
import type { Sent } from '../kit/form.tsx';
import { Form } from '../parts.tsx';
import type { Source } from '../source-queries.ts';
import type { PageContext } from '../page-context.ts';

/** The samples that this source takes for its sender's. */
function kindsFor({ type, verification }: Source) {
  if (type === 'email') return [];
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
}): JSX.Element {
  const kinds = kindsFor(source);
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
  { value }: Sent,
): Promise<{ readonly flash: Flash }> {
  const { token, sample } =
    source.type === 'email' ? mailFor(source) : await webhookFor(context, source, value('kind'));
  const { event_id: id } = await context.inbox.sendSample(token, sample);
  if (id === null)
    return { flash: { text: 'The sample arrived, but made no event.', isBad: true } };
  const link = { href: context.at('events', id), text: 'Open the event' };
  return { flash: { text: 'The sample arrived.', link } };
}

interface Prepared {
  readonly token: string;
  readonly sample: SampleDelivery;
}

async function webhookFor(
  context: PageContext,
  source: Source,
  wanted: string | undefined,
): Promise<Prepared> {
  const kinds = kindsFor(source);
  const kind = wanted === undefined ? kinds[0] : kinds.find((one) => one.kind === wanted);
  if (!kind) throw invalid({ path: 'kind', message: 'This source takes no such sample.' });
  const { headers, payload } = kind.build();
  const body = Buffer.from(stringifyExact(payload));
  const input = { name: source.name, body_base64: body.toString('base64') };
  const signed = (await context.call(sourceSign, input)) as {
    url: string;
    headers: Readonly<Record<string, string>>;
  };
  return {
    token: tokenOf(signed.url),
    sample: { headers: { ...headers, ...signed.headers }, body },
  };
}

function mailFor({ address, url }: Source): Prepared {
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
