import { isoTime } from '../../../../shared/lib/clock.ts';
import { keyCreate } from '../../../../shared/operations/key/create.ts';
import { mayGrant, SCOPES, type Scope } from '../../../../shared/lib/scopes.ts';
import { CheckBoxes, Choice, Field } from '../fields.tsx';
import { SCOPE_LINES, type NewKey } from '../key-queries.ts';
import { Form, Heading, Problem, UpLink } from '../parts.tsx';
import { NO_REFUSAL, fieldsOf, refusalOf, type Refusal } from '../refusal.ts';
import type { ActionResult, PageResult, PageContext } from '../page-context.ts';
import { showNewKey } from './new-key.tsx';

const FIELDS = ['name', 'scopes', 'disk_prefixes', 'expires_at'] as const;
const NAME_MAX_CHARS = 100;
const PREFIXES_MAX_CHARS = 6000;
const DAY_MS = 86_400_000;

const EXPIRIES = [
  ['', 'never, until you revoke it'],
  ['1', 'in a day'],
  ['7', 'in a week'],
  ['30', 'in 30 days'],
  ['90', 'in 90 days'],
  ['365', 'in a year'],
] as const;

interface Written {
  readonly name?: string | undefined;
  readonly scopes: readonly string[];
  /** As typed, with commas. */
  readonly disk_prefixes?: string | undefined;
  /** Days from now. */
  readonly expires_at?: string | undefined;
}

/** The scopes that an inbox agent needs. */
const USUAL: Written = { scopes: ['inbox:read', 'inbox:write'] };

/** The form of a new key, with the earlier input. Offers only scopes that the visitor may grant. */
export function showAddKey(
  context: PageContext,
  written: Written = USUAL,
  { status, text, fields }: Refusal = NO_REFUSAL,
): PageResult {
  const title = 'Create key';
  const scopes = SCOPES.filter((scope) => mayGrant(context.access.scopes, scope));
  const content = (
    <div class="narrow stack">
      <UpLink href={context.at('keys')}>All keys</UpLink>
      <Heading title={title} lead="The key is shown once, on the next page." />
      <Problem text={text} />
      <Form context={context} class="card stack">
        <Field
          name="name"
          label="What it’s for"
          value={written.name}
          maxlength={NAME_MAX_CHARS}
          placeholder="ci"
          hint="Shown in requests and in the ledger."
          problem={fields['name']}
        />
        <CheckBoxes
          name="scopes"
          label="What it can do"
          values={written.scopes}
          choices={scopes.map((scope) => [scope, SCOPE_LINES[scope]])}
          problem={fields['scopes']}
        />
        <Field
          name="disk_prefixes"
          label="Limit it to a part of the disk"
          value={written.disk_prefixes}
          maxlength={PREFIXES_MAX_CHARS}
          placeholder="team-a/"
          hint="Optional. It then sees only keys, tasks and files whose names start with this; separate several with commas."
          problem={fields['disk_prefixes']}
        />
        <Choice
          name="expires_at"
          label="Expires"
          value={written.expires_at}
          choices={EXPIRIES}
          problem={fields['expires_at']}
        />
        <button class="btn yes">Create key</button>
      </Form>
    </div>
  );
  return { title, content, status };
}

/** Creates the key and shows it in the answer itself, so that no URL and no log ever contains it. */
export async function addKey(context: PageContext, body: string): Promise<ActionResult> {
  const form = fieldsOf(body, ['name', 'disk_prefixes', 'expires_at']);
  if (!form) {
    const text = 'We couldn’t read the form. No key was created.';
    return showAddKey(context, USUAL, { status: 400, text, fields: {} });
  }
  const { name = '', disk_prefixes: typed = '', expires_at: days } = form;
  const sent = new Set(new URLSearchParams(body).getAll('scopes'));
  const scopes = SCOPES.filter((scope: Scope) => sent.has(scope));
  const written = { name, scopes, disk_prefixes: typed, expires_at: days };
  const missing = {
    ...(name.trim() === '' && { name: 'Say what it’s for.' }),
    ...(scopes.length === 0 && { scopes: 'Choose at least one.' }),
  };
  if (Object.keys(missing).length > 0) {
    return showAddKey(context, written, { status: 400, text: null, fields: missing });
  }
  const lifetime = EXPIRIES.find(([value]) => value === days)?.[0] ?? '';
  const expiry = lifetime !== '' && {
    expires_at: isoTime(context.now + Number(lifetime) * DAY_MS),
  };
  try {
    const prefixes = typed.split(',').map((one) => one.trim());
    const limit = typed.trim() !== '' && { disk_prefixes: prefixes };
    const input = { name: name.trim(), scopes, ...limit, ...expiry };
    return showNewKey(context, (await context.call(keyCreate, input)) as NewKey, 'made');
  } catch (error) {
    return showAddKey(context, written, refusalOf(error, FIELDS));
  }
}
