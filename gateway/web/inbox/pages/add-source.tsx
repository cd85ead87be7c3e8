import { sourceAdd } from '../../../../shared/operations/source/add.ts';
import { Choice, Field } from '../fields.tsx';
import { Form, Heading, Problem, UpLink } from '../parts.tsx';
import { NO_REFUSAL, fieldsOf, refusalOf, type Refusal } from '../refusal.ts';
import type { Source } from '../source-queries.ts';
import type { ActionResult, PageResult, PageContext } from '../page-context.ts';

type SourceType = Source['type'];

const FIELDS = ['name', 'verification', 'secret', 'signature_header'] as const;

type Written = Readonly<Partial<Record<(typeof FIELDS)[number], string>>>;

const NAME_MAX_CHARS = 63;
const SECRET_MAX_CHARS = 1024;
const HEADER_MAX_CHARS = 64;

const VERIFICATIONS = [
  ['', 'Choose…'],
  ['stripe', 'Stripe'],
  ['github', 'GitHub'],
  ['standard_webhooks', 'Standard Webhooks'],
  ['hmac_sha256', 'HMAC-SHA256 of the body, in a header'],
  ['none', 'Not signed: anyone with the URL can send'],
] as const;

/** The type of source to add; null if the visitor didn't ask for the form. */
export function typeToAdd(context: PageContext): SourceType | null {
  const type = context.query('add');
  if (type === 'webhook') return type;
  return type === 'email' && context.inbox.mailDomain !== null ? type : null;
}

/** The form of a new source, with the earlier input, except that a secret must be entered again. */
export function showAddSource(
  context: PageContext,
  type: SourceType,
  written: Written = {},
  { status, text, fields }: Refusal = NO_REFUSAL,
): PageResult {
  const title = type === 'email' ? 'Receive mail' : 'Add a webhook';
  const content = (
    <div class="narrow stack">
      <UpLink href={context.at('sources')}>All sources</UpLink>
      <Heading title={title} lead={LEADS[type]} />
      <Problem text={text} />
      <Form context={context} class="card stack">
        <Field
          name="name"
          label="Name"
          value={written.name ?? (type === 'email' ? 'mail' : '')}
          maxlength={NAME_MAX_CHARS}
          hint="Lowercase letters, digits, _ and -. Agents see it with each event."
          problem={fields['name']}
        />
        {type === 'webhook' && <Signing written={written} fields={fields} />}
        <button class="btn yes">{title}</button>
      </Form>
    </div>
  );
  return { title, content, status };
}

const LEADS: Readonly<Record<SourceType, string>> = {
  webhook: 'You get a URL to give to the sender.',
  email: 'The project gets an email address. Each email sent to it becomes an event.',
};

function Signing({ written, fields }: { written: Written; fields: Refusal['fields'] }) {
  return (
    <>
      <Choice
        name="verification"
        label="How the sender signs its requests"
        value={written.verification}
        choices={VERIFICATIONS}
        problem={fields['verification']}
      />
      <Field
        name="secret"
        label="Signing secret"
        type="password"
        maxlength={SECRET_MAX_CHARS}
        hint="Exactly as the sender shows it. We store it encrypted and never show it again."
        problem={fields['secret']}
      />
      <Field
        name="signature_header"
        label="Signature header"
        value={written.signature_header}
        maxlength={HEADER_MAX_CHARS}
        placeholder="x-signature"
        hint="Only for HMAC-SHA256."
        problem={fields['signature_header']}
      />
    </>
  );
}

export async function addSource(
  context: PageContext,
  type: SourceType,
  body: string,
): Promise<ActionResult> {
  const written = fieldsOf(body, FIELDS);
  if (!written) {
    const text = 'We couldn’t read the form. Nothing was added.';
    return showAddSource(context, type, {}, { status: 400, text, fields: {} });
  }
  if (type === 'webhook' && written.verification === undefined) {
    const fields = { verification: 'Choose one.' };
    return showAddSource(context, type, written, { status: 400, text: null, fields });
  }
  try {
    const { name } = (await context.call(sourceAdd, { name: '', ...written, type })) as Source;
    return { to: `${context.at('sources', name)}?added` };
  } catch (error) {
    const fieldOf = { SOURCE_NAME_TAKEN: 'name' } as const;
    return showAddSource(context, type, written, refusalOf(error, FIELDS, fieldOf));
  }
}
