import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { PUSH_TEST_EVERY_MS, PUSH_TESTS_MAX } from '../../../../lib/push/test-budget.ts';
import { pluralize } from '../../../../../shared/lib/pluralize.ts';
import { plainLine } from '../../../pages/text.ts';
import {
  addBrowser,
  browsersOf,
  preparePush,
  pushKeyOf,
  removeBrowser,
  testBrowser,
  type Browser,
} from './browser-queries.ts';
import { Field } from '../../../ui/fields.tsx';
import { openFlash, sealFlash } from '../../../ui/flash.ts';
import { age, line } from '../../../ui/text.tsx';
import {
  Chip,
  Form,
  Heading,
  Nothing,
  Problem,
  Table,
  UpLink,
  type Column,
} from '../../../ui/parts.tsx';
import { fieldsOf, isAddressRejected, refusalOf } from '../../../ui/refusal.ts';
import { TestResult, type SentTest } from './push-test.tsx';
import type {
  ActionResult,
  FormError,
  PageContext,
  PageResult,
  UiPage,
} from '../../page-context.ts';

const NAME_MAX_CHARS = 60;
const FORM_MAX_BYTES = 16_384;
const MINUTE_MS = 60_000;
/** What the result of a test is about, in the URL after it. */
const ABOUT = 'push test';
const LIMIT = `You can send ${PUSH_TESTS_MAX} tests at once, then one every ${PUSH_TEST_EVERY_MS / MINUTE_MS} minutes.`;

/** The browsers that show the visitor what agents ask them. */
export const browsersPage: UiPage = {
  path: 'browsers',
  title: 'Browser notices',
  group: 'settings',
  setting: { section: 'People', about: 'Show what agents ask you on this computer or phone.' },
  scope: 'approvals',
  // Pushes have no topic of their own.
  topics: ['any'],
  formMaxBytes: FORM_MAX_BYTES,
  show: (context) => shown(context),
  act,
};

async function act(context: PageContext, body: string): Promise<ActionResult> {
  const form = fieldsOf(body, ['act', 'id', 'name', 'subscription']);
  if (context.access.channelId === null) {
    return shown(context, { status: 403, problem: 'Only people whom agents ask get notices.' });
  }
  switch (form?.act) {
    case 'prepare':
      await preparePush(context);
      return { to: `${context.at('browsers')}?add=1` };
    case 'add':
      return add(context, form);
    case 'test':
      return test(context, form.id ?? '');
    case 'remove':
      await removeBrowser(context, form.id ?? '');
      return { to: context.at('browsers') };
    default:
      return shown(context, {
        status: 400,
        problem: 'We couldn’t read the form. Nothing was changed.',
      });
  }
}

async function add(
  context: PageContext,
  { name = 'Browser', subscription = '' }: { name?: string; subscription?: string },
): Promise<ActionResult> {
  const added = await addBrowser(context, {
    name: name.slice(0, NAME_MAX_CHARS),
    subscription,
  }).catch((error: unknown) => {
    if (isAddressRejected(error)) {
      return 'This browser’s push service has an address that this server doesn’t call.';
    }
    return `${refusalOf(error, []).text} Nothing was changed.`;
  });
  if (added === true) return { to: context.at('browsers') };
  const problem = added || 'The browser sent no subscription. Nothing was changed.';
  return shown(context, { status: 400, problem });
}

async function test(context: PageContext, id: string): Promise<ActionResult> {
  const { channelId } = context.access;
  const browser = (await context.read(browsersOf, { channelId })).find((one) => one.id === id);
  const answer = browser?.gone_at === null ? await testBrowser(context, id) : null;
  if (!browser || !answer || answer.kind === 'missing') {
    return shown(context, { status: 404, problem: 'That browser can’t get notices any more.' });
  }
  if (answer.kind === 'limited') {
    const wait = pluralize(Math.ceil(answer.waitMs / MINUTE_MS), 'minute');
    return shown(context, {
      status: 429,
      problem: `${LIMIT} You can send the next one in ${wait}.`,
    });
  }
  const sent: SentTest = { name: browser.name, answer };
  return { to: `${context.at('browsers')}?told=${sealFlash(context, ABOUT, sent)}` };
}

async function shown(
  context: PageContext,
  { status = 200, problem = null }: FormError = {},
): Promise<PageResult> {
  const key = context.query('add') === undefined ? null : await context.read(pushKeyOf, {});
  const content = key === null ? await list(context, problem) : addThis(context, key);
  return { title: 'Browser notices', content, status };
}

async function list(context: PageContext, problem: string | null): Promise<JSX.Element> {
  const { channelId } = context.access;
  const browsers = await context.read(browsersOf, { channelId });
  const sent = problem === null ? (openFlash(context, ABOUT) as SentTest | null) : null;
  const isAsked = channelId !== null;
  return (
    <>
      <Heading
        title="Browser notices"
        lead="These browsers show what agents ask you, beside the message you get. A click opens the page to decide."
      >
        {isAsked && (
          <Form context={context} class="">
            <button class="btn small" name="act" value="prepare">
              Add this browser
            </button>
          </Form>
        )}
      </Heading>
      <Problem text={problem} />
      {sent && <TestResult test={sent} />}
      {!isAsked && (
        <p class="note">
          Only people whom agents ask get notices.{' '}
          <a href={`${context.root}/sign-in`}>Sign in by email</a> to add this browser.
        </p>
      )}
      {browsers.length === 0 ? (
        <Nothing>No browsers yet.</Nothing>
      ) : (
        <Table caption="Your browsers" columns={columnsOf(context)} items={browsers} />
      )}
      <p class="soft">
        A browser keeps showing notices after you sign out, until you remove it here. Push services
        can’t read them. {LIMIT}
      </p>
    </>
  );
}

function columnsOf(context: PageContext): Column<Browser>[] {
  const when = (at: string | null): Child => (at === null ? 'never' : age(context, at));
  return [
    { title: 'Browser', cell: ({ name }) => line(name) },
    {
      title: 'State',
      cell: ({ gone_at }) =>
        gone_at === null ? (
          <Chip text="On" tone="good" />
        ) : (
          <Chip text="Unreachable: add it again" tone="bad" />
        ),
    },
    { title: 'Added', cell: ({ created_at }) => when(created_at) },
    { title: 'Last notice', cell: ({ last_sent_at }) => when(last_sent_at) },
    {
      title: 'Test it',
      cell: ({ id, name, gone_at }) =>
        gone_at === null ? (
          <Form context={context} class="">
            <input type="hidden" name="id" value={id} />
            <button class="btn small" name="act" value="test">
              Send a test<span class="unseen"> to {plainLine(name)}</span>
            </button>
          </Form>
        ) : (
          ''
        ),
    },
    {
      title: 'Remove it',
      cell: ({ id, name }) => (
        <Form context={context} class="">
          <input type="hidden" name="id" value={id} />
          <button class="btn small no" name="act" value="remove">
            Remove<span class="unseen"> {plainLine(name)}</span>
          </button>
        </Form>
      ),
    },
  ];
}

function addThis(context: PageContext, pushKey: string): JSX.Element {
  const { root, project, csrf } = context;
  return (
    <>
      <UpLink href={context.at('browsers')}>Browser notices</UpLink>
      <Heading title="Add this browser" />
      <form
        method="post"
        class="card stack"
        action={context.at('browsers')}
        data-keep
        data-push={pushKey}
        data-worker={`${root}/push.js`}
        data-scope={`${root}/p/${project.slug}/`}
      >
        <input type="hidden" name="csrf" value={csrf} />
        <input type="hidden" name="act" value="add" />
        <input type="hidden" name="subscription" value="" />
        <Field name="name" label="Name of this browser" maxlength={NAME_MAX_CHARS} />
        <p id="push-note" role="status">
          Notices need JavaScript.
        </p>
        <button class="btn yes" disabled>
          Turn on notices
        </button>
        <p class="soft">
          The browser asks you for permission. Notices show the project, what is asked, and nothing
          that the message doesn’t have.
        </p>
      </form>
    </>
  );
}
