import type { JSX } from 'hono/jsx/jsx-runtime';
import {
  reachOf,
  setupOf,
  type NewSecret,
} from '../../../../../shared/rules/inbox/source-setup.ts';
import { secretPage } from '../../../ui/secret.tsx';
import { exact } from '../../../ui/text.tsx';
import type { Source } from './source-queries.ts';
import type { PageContext, PageResult } from '../../page-context.ts';

/** How to connect the sender; open until something has come from it. */
export function SetupCard({ source }: { readonly source: Source }): JSX.Element {
  return (
    <details class="card" open={source.last_event_at === null}>
      <summary>{stepsOf(source).title}</summary>
      <div class="stack">
        <Setup source={source} />
      </div>
    </details>
  );
}

/** A source, as far as its sender must know it. */
type SenderSource = Pick<
  Source,
  'name' | 'type' | 'verification' | 'url' | 'address' | 'signature_header'
>;

function stepsOf(source: SenderSource, secret: NewSecret = { made: null, isGiven: false }) {
  const { type, verification, url, address, signature_header: header } = source;
  const known = { type, verification, url: url ?? '', address: address ?? '' };
  return setupOf({ ...known, signatureHeader: header ?? '' }, secret);
}

function Setup({
  source,
  made = null,
}: {
  readonly source: SenderSource;
  readonly made?: string | null;
}): JSX.Element {
  const { type, url } = source;
  return (
    <>
      <ol class="steps">
        {stepsOf(source, { made, isGiven: false }).steps.map(({ text, rotate }) => (
          <li>
            {text} {rotate && <a href="?step=rotate">New secret…</a>}
          </li>
        ))}
      </ol>
      {reachOf({ type, url: url ?? '' }).map(({ text, command }) => (
        <p class="soft">
          {text} <code class="mono">{command}</code>
        </p>
      ))}
    </>
  );
}

/** A secret that we made, which people see only on this page. */
export function showNewSecret(
  context: PageContext,
  source: SenderSource,
  secret: string,
): PageResult {
  return secretPage({
    title: 'Secret created',
    note: <>The sender of {exact(source.name)} signs with it.</>,
    copy: [
      { name: 'secret', label: 'Signing secret', value: secret },
      { name: 'address', label: 'Webhook URL (POST)', value: source.url ?? '' },
    ],
    after: (
      <section class="card stack" aria-labelledby="setup">
        <h2 id="setup">{stepsOf(source).title}</h2>
        <Setup source={source} made={secret} />
      </section>
    ),
    back: context.at('sources', source.name),
  });
}
