import { invalid } from '../../../../../shared/lib/errors.ts';
import { pluralize } from '../../../../../shared/lib/pluralize.ts';
import {
  isSecretOfSender,
  newSourceSecret,
  repeatedText,
} from '../../../../../shared/rules/inbox/source-setup.ts';
import { SENDERS, senderOf, type Verification } from '../../../../../shared/senders/registry.ts';
import { sourceAdd } from '../../../../../shared/operations/source/add.ts';
import { sourceRemove } from '../../../../../shared/operations/source/remove.ts';
import { sourceRotate } from '../../../../../shared/operations/source/rotate.ts';
import { limitText } from '../../../../../shared/rules/inbox/ingress-limit.ts';
import { bytesText } from '../../../ui/bytes-text.ts';
import { CopyField } from '../../../ui/fields.tsx';
import { sealFlash } from '../../../ui/flash.ts';
import { FactsCard } from '../../../ui/detail.tsx';
import type { FieldSpec, FormPage, SubmittedForm } from '../../../ui/form.tsx';
import type { Detail } from '../../../ui/item.tsx';
import { listPage } from '../../../ui/list.tsx';
import { resourcePage } from '../../../ui/resource.tsx';
import { ago, exact, last, mono, time } from '../../../ui/text.tsx';
import { Chip, Note } from '../../../ui/parts.tsx';
import { addressOf, checkOf, sourceOf, sourcesOf, type Source } from './source-queries.ts';
import type { ActionResult, PageContext, PageResult } from '../../page-context.ts';
import { SampleForm, sendSample } from './source-sample.tsx';
import { showNewSecret, SetupCard } from './source-setup.tsx';

const NAME_MAX_CHARS = 63;
const SECRET_MAX_CHARS = 1024;
const HEADER_MAX_CHARS = 64;

/** Ways that several senders have in common. */
const GENERAL: ReadonlyMap<Verification, string> = new Map([
  ['standard_webhooks', 'Another sender that signs Standard Webhooks (Svix)'],
  ['hmac_sha256', 'Another sender that signs the body with HMAC-SHA256'],
  ['none', 'Another sender, not signed: anyone with the URL can send'],
]);

/** Senders by their titles, so that typing a name finds it in the list; the general ways come last. */
const CHOICES = [
  ['', 'Choose…'],
  ...SENDERS.filter(({ name }) => !GENERAL.has(name))
    .map(({ name, title }) => [name, title] as const)
    .toSorted(([, a], [, b]) => a.localeCompare(b)),
  ...GENERAL,
] as const;

const GRACES = [
  ['86400', 'in a day'],
  ['3600', 'in an hour'],
  ['0', 'at once'],
] as const;

/** The addresses where senders send events. */
export const sourcesPage = resourcePage<Source>({
  path: 'sources',
  title: 'Sources',
  group: 'settings',
  setting: { section: 'Connections', about: 'Where events and mail come in.' },
  scope: 'admin',
  // Events change the counts.
  topics: ['sources', 'events'],
  all: 'All sources',
  list,
  form: (context) => {
    const type = context.query('add');
    if (type === 'webhook') return webhookForm(context);
    return type === 'email' && context.inbox.mailDomain !== null ? mailForm(context) : null;
  },
  find: sourceOf,
  detail,
  acts: [
    { name: 'sample', text: 'Send a sample', isPlaced: true, takes: ['kind'], run: sendSample },
    {
      name: 'rotate',
      text: 'New secret',
      may: (_context, { verification }) => senderOf(verification).secretBy !== null,
      asks: (_context, source) => ({
        heading: 'Give this source a new secret?',
        consequences: <p>Its URL stays. The sender signs with the new secret from then on.</p>,
        fields: rotateFields(source),
        yes: 'Save the new secret',
        tone: 'yes',
      }),
      run: rotate,
    },
    {
      name: 'remove',
      text: 'Remove',
      asks: (_context, { name }) => ({
        heading: 'Remove this source?',
        consequences: (
          <p>
            The address of {exact(name)} stops working at once, and senders get an error. Events
            that came in stay. A new source with this name gets a different address.
          </p>
        ),
        yes: 'Yes, remove it',
      }),
      run: async (context, { name }) => {
        await context.call(sourceRemove, { name });
        return null;
      },
    },
  ],
});

async function list(context: PageContext): Promise<PageResult> {
  const sources = await sourcesOf(context);
  const hasMail = sources.some(({ type }) => type === 'email');
  return listPage({
    title: 'Sources',
    lead: 'The addresses that senders send to.',
    ways: [
      context.inbox.mailDomain !== null && !hasMail && ['add=email', 'Receive mail'],
      ['add=webhook', 'Add a webhook'],
    ],
    rows: sources.map((source) => ({
      href: context.at('sources', source.name),
      what: mono(source.name),
      states: [checkOf(source), source.limited !== null && ['limited', 'warn']],
      address: addressOf(source),
      meta: [
        `${pluralize(source.events_24h, 'event')} in 24 h`,
        source.rejected_24h > 0 && (
          <span class="risk high">{source.rejected_24h.toString()} rejected</span>
        ),
        last(context, 'last', source.last_event_at, 'nothing received yet'),
      ],
    })),
    empty: 'No sources yet, so nothing can come in.',
  });
}

function nameField(value: string): FieldSpec {
  return {
    name: 'name',
    label: 'Name',
    value,
    max: NAME_MAX_CHARS,
    hint: 'Lowercase letters, digits, _ and -. Agents see it with each event.',
  };
}

function formOf(
  context: PageContext,
  form: Pick<FormPage, 'title' | 'lead' | 'fields' | 'submit'>,
): FormPage {
  return {
    ...form,
    up: [context.at('sources'), 'All sources'],
    button: form.title,
    unread: 'Nothing was added.',
    about: { SOURCE_NAME_TAKEN: 'name' },
  };
}

function mailForm(context: PageContext): FormPage {
  return formOf(context, {
    title: 'Receive mail',
    lead: 'The project gets an email address. Each email sent to it becomes an event.',
    fields: [nameField('mail')],
    submit: async ({ value }) => {
      const input = { name: value('name') ?? '', type: 'email' };
      return added(context, await context.call(sourceAdd, input));
    },
  });
}

function webhookForm(context: PageContext): FormPage {
  return formOf(context, {
    title: 'Add a webhook',
    lead: 'You get a URL to give to the sender.',
    fields: [
      nameField(''),
      {
        kind: 'choice',
        name: 'verification',
        label: 'Sender',
        hint: 'This decides how we check its requests, and what type its events have.',
        choices: CHOICES,
      },
      {
        kind: 'password',
        name: 'secret',
        label: 'Signing secret',
        max: SECRET_MAX_CHARS,
        hint: 'Exactly as the sender shows it. Leave it empty if you don’t have one yet: we’ll make one, or you store it later. We keep it encrypted.',
      },
      {
        name: 'signature_header',
        label: 'Signature header',
        max: HEADER_MAX_CHARS,
        placeholder: 'x-signature',
        hint: 'Only for HMAC-SHA256.',
      },
    ],
    submit: (sent) => addWebhook(context, sent),
  });
}

async function addWebhook(context: PageContext, { value }: SubmittedForm): Promise<ActionResult> {
  const verification = value('verification');
  if (verification === undefined) throw invalid({ path: 'verification', message: 'Choose one.' });
  const [given, header] = [value('secret'), value('signature_header')];
  const made = given === undefined ? newSourceSecret(verification) : null;
  const secret = given ?? made;
  const source = await context.call(sourceAdd, {
    name: value('name') ?? '',
    type: 'webhook',
    verification,
    ...(secret !== null && { secret }),
    ...(header !== undefined && { signature_header: header }),
  });
  return made === null || isSecretOfSender(verification)
    ? added(context, source)
    : showNewSecret(context, source, made);
}

function added(context: PageContext, { name, type }: Pick<Source, 'name' | 'type'>): ActionResult {
  const text =
    type === 'email'
      ? 'The project now receives mail at this address.'
      : 'Added. Give the sender this address as its webhook URL.';
  return { to: `${context.at('sources', name)}?told=${sealFlash(context, name, { text })}` };
}

function rotateFields({ verification }: Source): readonly FieldSpec[] {
  const hint = isSecretOfSender(verification)
    ? 'Exactly as the sender shows it.'
    : 'Leave it empty, and we’ll make one and show it once.';
  return [
    { kind: 'password', name: 'secret', label: 'New secret', max: SECRET_MAX_CHARS, hint },
    { kind: 'choice', name: 'grace', label: 'The old secret stops working', choices: GRACES },
  ];
}

async function rotate(context: PageContext, source: Source, { value }: SubmittedForm) {
  const { name, verification } = source;
  const given = value('secret');
  if (given === undefined && isSecretOfSender(verification)) {
    throw invalid({ path: 'secret', message: 'The sender makes this secret: paste it here.' });
  }
  const secret = given ?? newSourceSecret(verification) ?? '';
  const grace = Number(value('grace') ?? '0');
  await context.call(sourceRotate, { name, secret, previous_valid_seconds: grace });
  return given === undefined
    ? showNewSecret(context, source, secret)
    : { flash: { text: 'Saved. The sender can use the new secret.' } };
}

function detail(context: PageContext, source: Source): Detail {
  const { name, limited } = source;
  const isSame = repeatedText(source.repeated_24h);
  const [text, tone] = checkOf(source);
  return {
    title: name,
    heading: (
      <>
        {exact(name)} <Chip text={text} tone={tone} />
      </>
    ),
    main: (
      <>
        {limited !== null && (
          <Note tone="warn" isAlert>
            <strong>This source isn’t accepting events right now.</strong>{' '}
            {limitText(limited.kind, limited.limit)} Senders are told to try again later, and mail
            stays in the mailbox.
          </Note>
        )}
        {isSame !== null && <Note>{isSame}</Note>}
        <Address source={source} />
        <SetupCard source={source} />
        <About context={context} source={source} />
      </>
    ),
    side: {
      title: 'Events',
      lines: (
        <>
          <p class="ways">
            <a href={`${context.at('events')}?source=${encodeURIComponent(name)}`}>
              See its events
            </a>
          </p>
          <SampleForm context={context} source={source} />
        </>
      ),
    },
  };
}

function Address({ source }: { readonly source: Source }) {
  const { type, verification, url } = source;
  return (
    <section class="card stack" aria-label="Address">
      <CopyField
        name="address"
        label={type === 'email' ? 'Email address' : 'Webhook URL (POST)'}
        value={addressOf(source)}
      />
      {type === 'email' && url !== null && (
        <CopyField
          name="url"
          label="For a mail server: URL where it can POST raw emails"
          value={url}
        />
      )}
      {type === 'webhook' && <p class="soft">{checkText(verification)}</p>}
    </section>
  );
}

function checkText(verification: Verification): string {
  const { title, proof } = senderOf(verification);
  switch (proof.kind) {
    case 'none':
      return 'Nothing is signed. Anyone who knows this URL can send, so keep it private.';
    case 'shared_secret':
      return `Only requests with the secret are accepted. ${title} doesn’t sign what it sends, so its events are marked as not verified.`;
    default:
      return `Only requests with a valid signature (${title}) are accepted.`;
  }
}

function About({ context, source }: { readonly context: PageContext; readonly source: Source }) {
  const { signature_header: header, previous_secret_valid_until: until } = source;
  return (
    <FactsCard
      title="About this source"
      facts={[
        ['Last event', ago(context, source.last_event_at, 'none yet')],
        [
          'In 24 hours',
          `${source.events_24h} taken, ${source.rejected_24h} rejected, ${source.repeated_24h} the same as an earlier one`,
        ],
        ['Stored', `${bytesText(source.stored_bytes)} of payloads, until they are purged`],
        header !== null && ['Signature', <>in the header {mono(header)}</>],
        until !== null && ['Old secret', <>also accepted until {time(context, until)}</>],
        ['Added', ago(context, source.created_at)],
        ['Added by', exact(source.maker)],
        source.secret_maker !== null && ['Secret set by', exact(source.secret_maker)],
      ]}
    />
  );
}
