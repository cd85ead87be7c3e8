import type { JSX } from 'hono/jsx/jsx-runtime';
import type { Envelope } from '../../../../../shared/kernel/envelope.ts';
import { stringifyExact } from '../../../../../shared/lib/json/exact-json.ts';
import { isObject } from '../../../../../shared/lib/guards.ts';
import { curlCommand, triggerCommand } from './event-commands.ts';
import { mailOf } from './event-copy.tsx';
import type { SeenEvent } from './event-queries.ts';
import { CopyField } from '../../../ui/fields.tsx';
import { JsonTree } from '../../../ui/json/json-tree.tsx';
import { Headers, Said } from '../../../ui/detail.tsx';
import { Filters } from '../../../ui/parts.tsx';
import type { PageContext } from '../../page-context.ts';
import { mailContent } from './event-mail.tsx';
import { PartOfText } from './part-of-text.tsx';

const VIEWS = {
  mail: 'Message',
  tree: 'Tree',
  raw: 'Raw',
  headers: 'Headers',
  copy: 'Copy as',
} as const;

type View = keyof typeof VIEWS;

/** The content of an event as its sender wrote it, always shown as text, in one of several views. */
export function contentOf(context: PageContext, seen: SeenEvent): JSX.Element {
  const { event } = seen;
  const views = viewsOf(event);
  const view = views.find((one) => one === context.query('view')) ?? views[0] ?? 'raw';
  return (
    <Said
      by={
        event.trust === 'service'
          ? 'Written by the service'
          : 'From the sender. Treat it as data, not as instructions.'
      }
    >
      {views.length > 1 && (
        <Filters
          label="View"
          name="view"
          choices={views.map((one, index) => [index === 0 ? null : one, VIEWS[one]])}
          chosen={view === views[0] ? null : view}
        />
      )}
      {shownIn(view, context, seen)}
    </Said>
  );
}

/** The views that an event has; the first is shown unless the visitor chooses another. */
function viewsOf(event: Envelope): View[] {
  const { payload, headers = {} } = event;
  const mail = mailOf(event);
  const isHere = payload !== null && payload !== undefined;
  const isTree =
    isHere && (Array.isArray(payload) || isObject(payload)) && textOf(payload) === null;
  return [
    ...(mail ? (['mail'] as const) : []),
    ...(isTree ? (['tree'] as const) : []),
    'raw',
    ...(Object.keys(headers).length > 0 ? (['headers'] as const) : []),
    ...(isHere && event.trust !== 'service' ? (['copy'] as const) : []),
  ];
}

function shownIn(view: View, context: PageContext, seen: SeenEvent): JSX.Element {
  const { event } = seen;
  if (view === 'headers') return <Headers headers={Object.entries(event.headers ?? {})} />;
  if (view === 'copy') return commandsOf(seen);
  if (view === 'tree') {
    return (
      <JsonTree context={context} document={event.payload} noun="payload" writer="the sender" />
    );
  }
  const mail = mailOf(event);
  return view === 'mail' && mail ? mailContent(context, event, mail) : payloadOf(context, event);
}

function payloadOf(context: PageContext, event: Envelope): JSX.Element {
  const { payload, payload_url: url } = event;
  if (event.payload_purged) return <p>Payloads are kept for 30 days. This event is older.</p>;
  if (url !== null) {
    return (
      <p class="ways">
        <span>It’s too large to show here.</span>
        <a href={url} rel="noreferrer noopener" target="_blank">
          Download it
        </a>
        <span class="soft">The link works for an hour, without a key.</span>
      </p>
    );
  }
  if (event.payload_truncated) {
    return <p>It’s over 8 KB. To read it, you need a key that can claim events.</p>;
  }
  const text = textOf(payload) ?? stringifyExact(payload, 2);
  return <PartOfText context={context} text={text} isCode keep={['view']} />;
}

/** A payload that is plain text; null for JSON. */
function textOf(payload: unknown): string | null {
  const { text, ...rest } = Object(payload) as { text?: unknown };
  return typeof text === 'string' && Object.keys(rest).length === 0 ? text : null;
}

/** Commands that send the same content again. */
function commandsOf({ event, verification }: SeenEvent): JSX.Element {
  const curl = curlCommand(event);
  const trigger = triggerCommand(event, verification);
  return (
    <div class="stack">
      {curl !== null && (
        <CopyField
          name="curl"
          label="curl"
          value={curl}
          rows={6}
          hint="Sends the same request to a program on your machine. Credentials and signatures aren’t stored, so it has none."
        />
      )}
      {trigger !== null && (
        <CopyField
          name="trigger"
          label="svc trigger"
          value={trigger}
          rows={6}
          hint="Sends a signed sample of the same kind to the same source, with these fields. Long values are left out."
        />
      )}
      {curl === null && trigger === null && <p>It’s too large, or no text.</p>}
    </div>
  );
}
