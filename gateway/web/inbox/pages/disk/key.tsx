import type { JSX } from 'hono/jsx/jsx-runtime';
import { ServiceError } from '../../../../../shared/lib/errors.ts';
import { stringifyExact } from '../../../../../shared/lib/exact-json.ts';
import { kvDelete } from '../../../../../shared/operations/kv/delete.ts';
import { kvGet } from '../../../../../shared/operations/kv/get.ts';
import { isStateKey, STATE_PREFIX } from '../../../../../shared/rules/disk-name.ts';
import { digitsOf } from '../../../pages/number.ts';
import { AgentText, Ago, Time } from '../../../pages/request-copy.tsx';
import { lengthOfTime } from '../../../pages/time.ts';
import { confirm } from '../../confirm.tsx';
import { Fact, Problem, UpLink } from '../../parts.tsx';
import { fieldsOf, refusalOf } from '../../refusal.ts';
import type { ActionResult, FormError, PageContext, PageResult } from '../../page-context.ts';
import { diskUrl, mayChange } from './parts.tsx';
import { StoredValue } from './json-value.tsx';

/** The answer of `kv_get`. */
interface Stored {
  readonly key: string;
  readonly value: unknown;
  readonly expires_at: string | null;
  readonly updated_at: string;
  readonly version: number;
}

/** One key with its value. */
export async function showKey(context: PageContext, key: string): Promise<PageResult> {
  const stored = await find(context, key);
  const isAsked = context.query('step') === 'delete' && mayChange(context);
  return isAsked ? askToDelete(context, stored) : shown(context, stored);
}

async function find(context: PageContext, key: string): Promise<Stored> {
  const stored = (await context.call(kvGet, { key })) as Stored | null;
  if (stored === null) throw new ServiceError('NOT_FOUND');
  return stored;
}

/** Deletes the key, unless somebody wrote it since the visitor saw it. */
export async function actOnKey(
  context: PageContext,
  key: string,
  body: string,
): Promise<ActionResult> {
  const form = fieldsOf(body, ['act', 'version']);
  const version = Number(form?.version);
  if (form?.act !== 'delete' || !Number.isSafeInteger(version)) {
    const problem = 'We couldn’t read the form. Nothing was deleted.';
    return shown(context, await find(context, key), { status: 400, problem });
  }
  try {
    await context.call(kvDelete, { key, if_version: version });
  } catch (error) {
    const { status, text } = refusalOf(error, []);
    return shown(context, await find(context, key), { status, problem: text });
  }
  return { to: diskUrl(context, undefined, { prefix: key.slice(0, key.lastIndexOf('/') + 1) }) };
}

function askToDelete(context: PageContext, { key, version }: Stored): PageResult {
  return confirm(context, {
    heading: 'Delete this key?',
    back: diskUrl(context, undefined, { key }),
    consequences: (
      <>
        <p>
          <AgentText text={key} reading="exact" class="mono" />
        </p>
        <p>
          Its value is gone at once{isStateKey(key) && ', with all its versions'}. An agent that
          reads it finds nothing.
        </p>
      </>
    ),
    fields: <input type="hidden" name="version" value={version.toString()} />,
    act: 'delete',
    yes: 'Yes, delete it',
  });
}

function shown(
  context: PageContext,
  stored: Stored,
  { status = 200, problem = null }: FormError = {},
): PageResult {
  const { key, value } = stored;
  const up = diskUrl(context, undefined, { prefix: key.slice(0, key.lastIndexOf('/') + 1) });
  const content = (
    <>
      <UpLink href={up} whole>
        Keys
      </UpLink>
      <div class="stack">
        <h1>
          <AgentText text={key} reading="exact" />
        </h1>
        <Problem text={problem} />
        <StoredValue context={context} value={value} noun="value" />
      </div>
      <About context={context} stored={stored} />
    </>
  );
  return { title: 'Key', content, status, wide: true };
}

function About({
  context,
  stored,
}: {
  readonly context: PageContext;
  readonly stored: Stored;
}): JSX.Element {
  const { key, value, expires_at: expires, updated_at: updated, version } = stored;
  const { now } = context;
  return (
    <section class="act card stack" aria-labelledby="about">
      <h2 id="about">About this key</h2>
      <dl class="facts">
        <Fact name="Written">
          <Ago at={Date.parse(updated)} now={now} />
        </Fact>
        <Fact name="Expires">
          {expires === null ? (
            'never'
          ) : (
            <>
              in {lengthOfTime(Date.parse(expires) - now)}, at{' '}
              <Time at={Date.parse(expires)} now={now} />
            </>
          )}
        </Fact>
        <Fact name="Version">{version.toString()}</Fact>
        <Fact name="Size">{digitsOf(Buffer.byteLength(stringifyExact(value)))} bytes</Fact>
      </dl>
      {isStateKey(key) && (
        <a
          class="btn small"
          href={diskUrl(context, 'states', { task: key.slice(STATE_PREFIX.length) })}
        >
          Versions of this state
        </a>
      )}
      {mayChange(context) && (
        <a class="btn small" href={diskUrl(context, undefined, { key, step: 'delete' })}>
          Delete
        </a>
      )}
    </section>
  );
}
