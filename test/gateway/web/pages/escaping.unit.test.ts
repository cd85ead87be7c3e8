import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConfirmPage } from '../../../../gateway/web/pages/confirm-page.tsx';
import { render } from '../../../../gateway/web/pages/document.tsx';
import { RequestPage } from '../../../../gateway/web/pages/request-page.tsx';
import { ResultPage } from '../../../../gateway/web/pages/result-page.tsx';
import type {
  OpenedRequest,
  RequestStatus,
  RequestView,
} from '../../../../gateway/approvals/approvals.ts';
import { anyText } from './any-text.ts';
import { aRequest } from './memory-approvals.ts';

const NOW = Date.UTC(2026, 0, 2, 11, 30);

/** Everything that others than the service write, as they like. */
const hostileRequest: fc.Arbitrary<RequestView> = fc
  .record({
    kind: fc.constantFrom('approval', 'question', 'policy', 'file_url', 'email_send', 'channel'),
    summary: anyText,
    action: fc.option(anyText),
    details: fc.option(anyText),
    note: fc.option(anyText),
    keyName: anyText,
    project: fc.record({ name: anyText, slug: anyText }),
    agent: fc.record({ label: fc.option(anyText), platform: anyText }),
    options: fc.array(anyText, { maxLength: 5 }),
    diff: fc.array(anyText, { maxLength: 6 }),
    warnings: fc.array(anyText, { maxLength: 3 }),
    approvals: fc.record({
      needed: fc.constant(3),
      given: fc.array(fc.record({ label: anyText, at: fc.constant(NOW) }), { maxLength: 2 }),
    }),
    decidedBy: fc.option(anyText),
    decision: fc.option(anyText),
    comment: fc.option(anyText),
    thread: fc.option(fc.record({ name: anyText, asked: fc.nat(), allowed: fc.nat() })),
    like: fc.option(anyText),
    suggestedRule: fc.option(anyText),
    lastsUntil: fc.option(fc.constant(NOW + 60_000)),
  })
  .map((change) => aRequest(NOW, { ...change, decidedAt: NOW }));

function opened(request: RequestView): OpenedRequest {
  const channel = { id: 'chn_01', label: request.keyName };
  return { request, channel, isDecider: false, votedAt: null, mutedUntil: null, now: NOW };
}

const STATUSES: readonly Exclude<RequestStatus, 'pending'>[] = [
  'approved',
  'denied',
  'modified',
  'needs_context',
  'answered',
  'expired',
];

/** The tags of a page that a browser would find. Text has no angle brackets: they are written out. */
function tagsOf(html: string): string[] {
  const [head = '', ...rest] = html.split('</style>');
  return [...head.replace(/<style>[^]*$/, '<style>').matchAll(/<[^>]*>/g)]
    .concat([...rest.join('</style>').matchAll(/<[^>]*>/g)])
    .map(([tag]) => tag);
}

const NAMES =
  /^<(?:!doctype html|\/?(?:html|head|meta|title|style|body|header|main|section|div|figure|figcaption|p|h1|h2|dl|dt|dd|ul|li|br|span|mark|strong|small|time|svg|path|form|input|button|fieldset|legend|label|textarea|details|summary|a)(?=[ >/]))/;
const ATTRIBUTES =
  /^(?: (?:lang|charset|name|content|class|dir|translate|id|for|role|aria-[a-z]+|viewBox|fill|stroke|stroke-[a-z]+|focusable|d|datetime|title|method|type|value|rows|maxlength|required|autocomplete|open|href)="[^"<>]*")*\/?>$/;

function isOurs(tag: string): boolean {
  const name = NAMES.exec(tag)?.[0];
  if (name === undefined) return false;
  return tag.startsWith('</') || tag.startsWith('<!') || ATTRIBUTES.test(tag.slice(name.length));
}

/** Every page, without the one script that each has in its head. */
async function everyPage(request: RequestView): Promise<string[]> {
  const shown = opened(request);
  const problem = request.summary;
  const form = { comment: request.summary, text: request.summary };
  const pages = [
    RequestPage({ opened: shown, csrf: 'seal', problem, form }),
    RequestPage({ opened: shown, csrf: 'seal', problem, form: { ...form, verb: 'needs_context' } }),
    ConfirmPage({
      opened: shown,
      choice: { verb: 'option', index: 0, comment: request.summary },
      csrf: 'seal',
      step: 'seal',
    }),
    ...STATUSES.map((status) => ResultPage({ opened: shown, status, late: 'deny', csrf: 'seal' })),
  ];
  const htmls = await Promise.all(pages.map((page) => render(page)));
  return htmls.map((html) => html.replace(/(?<=<\/style>)<script>[^<]*<\/script>/, ''));
}

describe('whatever an agent writes', () => {
  it('adds no markup to any page', async () => {
    await fc.assert(
      fc.asyncProperty(hostileRequest, async (request) => {
        for (const html of await everyPage(request)) {
          expect(tagsOf(html).filter((tag) => !isOurs(tag))).toEqual([]);
          expect(html).not.toMatch(/<(?:script|img|iframe|object|base|link)\b/i);
          expect(html.match(/<form/g)?.length ?? 0).toBeLessThanOrEqual(5);
        }
      }),
      { numRuns: 120 },
    );
  });

  it('makes no link: the only one goes back from the second step', async () => {
    await fc.assert(
      fc.asyncProperty(hostileRequest, async (request) => {
        const links = (await everyPage(request)).map((html) => html.match(/<a [^>]*>/g) ?? []);
        expect(links.flat()).toEqual(['<a class="btn" href="?">']);
      }),
      { numRuns: 60 },
    );
  });

  it('stands in the page as it was written', async () => {
    const summary = `5 < 6 & "7" > '4' $& <b>&amp;</b>`;
    const html = await render(
      RequestPage({
        opened: opened(aRequest(NOW, { summary })),
        csrf: 'seal',
        problem: null,
        form: {},
      }),
    );
    expect(html).toContain(
      '5 &lt; 6 &amp; &quot;7&quot; &gt; &#39;4&#39; $&amp; &lt;b&gt;&amp;amp;&lt;/b&gt;',
    );
  });

  it('is not in the title, where nothing says whose words they are', async () => {
    const html = await render(
      RequestPage({
        opened: opened(aRequest(NOW, { summary: 'Already approved' })),
        csrf: 'seal',
        problem: null,
        form: {},
      }),
    );
    expect(html).toContain('<title>Approval · Acme Shop</title>');
  });
});
