import type { JSX } from 'hono/jsx/jsx-runtime';
import { emailStatus } from '../../../../../shared/operations/email/status.ts';
import { fileList } from '../../../../../shared/operations/file/list.ts';
import { inboxList } from '../../../../../shared/operations/inbox/list.ts';
import { requestList } from '../../../../../shared/operations/request/list.ts';
import { activityOf, spanOf, type Activity } from './activity-queries.ts';
import { Filters, Heading } from '../../../ui/parts.tsx';
import type { PageResult, UiPage, PageContext } from '../../page-context.ts';
import { attentionOf, Attention } from './attention.tsx';
import { DecisionChart, DiskChart, MailChart, TimesChart } from './overview-times.tsx';
import { EndedChart, OldestChart, PushChart, ReceivedChart } from './overview-events.tsx';

/** What needs attention, and what happened lately. */
export const overviewPage: UiPage = {
  path: 'overview',
  title: 'Overview',
  group: 'overview',
  scope: 'any',
  topics: ['any'],
  paceMs: 5000,
  show,
};

const SPAN_CHOICES = [
  ['hour', 'Hour'],
  ['day', 'Day'],
  ['week', 'Week'],
  ['month', 'Month'],
] as const;

async function show(context: PageContext): Promise<PageResult> {
  const span = spanOf(context);
  const attention = await attentionOf(context);
  const activity = await context.read(activityOf, { span });
  if (!activity.isCurrent) context.access.project.atLatest(context.now);
  const content = (
    <>
      <Heading title="Overview" />
      <Attention context={context} found={attention} />
      <section aria-labelledby="activity">
        <div class="listhead">
          <h2 id="activity">Activity</h2>
          <Filters label="Span" name="span" choices={SPAN_CHOICES} chosen={span.name} />
        </div>
        {!activity.isCurrent && (
          <p class="note" role="status">
            Still counting: the newest events are missing. This page updates when they are counted.
          </p>
        )}
        <div class="charts">
          <Charts context={context} activity={activity} />
        </div>
      </section>
    </>
  );
  return { title: 'Overview', content };
}

/** What shows the same as each picture: whoever may not call it doesn't see the picture. */
const CHARTS = [
  [inboxList, ReceivedChart],
  [inboxList, EndedChart],
  [inboxList, OldestChart],
  [inboxList, TimesChart],
  [inboxList, PushChart],
  [requestList, DecisionChart],
  [emailStatus, MailChart],
  [fileList, DiskChart],
] as const;

/** Each picture that the visitor's scopes allow. */
function Charts({
  context,
  activity,
}: {
  readonly context: PageContext;
  readonly activity: Activity;
}): JSX.Element {
  const shown = CHARTS.filter(([operation]) => context.may(operation));
  return (
    <>
      {shown.map(([, Chart]) => (
        <Chart context={context} activity={activity} />
      ))}
    </>
  );
}
