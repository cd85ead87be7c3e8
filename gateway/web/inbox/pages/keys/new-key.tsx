import type { JSX } from 'hono/jsx/jsx-runtime';
import type { NewKey } from './key-queries.ts';
import { secretPage } from '../../../ui/secret.tsx';
import { dotted, exact, line } from '../../../ui/text.tsx';
import type { PageResult, PageContext } from '../../page-context.ts';

/** A new key with its secret, which people see only on this page. */
export function showNewKey(context: PageContext, key: NewKey, how: 'made' | 'rotated'): PageResult {
  const { name, scopes, disk_prefixes: prefixes } = key;
  return secretPage({
    title: how === 'made' ? 'Key created' : 'New secret created',
    note: 'Anyone who has it can use it.',
    copy: [{ name: 'key', label: 'Key', value: key.api_key }],
    about: (
      <p class="soft">
        {dotted([
          line(name),
          <span class="mono">{scopes.join(', ')}</span>,
          prefixes !== null && <>only {exact(prefixes.join(', '))}</>,
        ])}
      </p>
    ),
    after: <HowToUse context={context} />,
    back: context.at('keys'),
  });
}

/** None of these commands has the key among its arguments, where other users of the machine could see it. */
function HowToUse({ context }: { readonly context: PageContext }): JSX.Element {
  const { publicUrl, isLocal, server } = context.inbox;
  return (
    <section class="card stack" aria-labelledby="use">
      <h2 id="use">How to use it</h2>
      <dl class="facts uses">
        {!isLocal && (
          <>
            <dt>On a machine</dt>
            <dd>
              <code class="mono">svc login --gateway {publicUrl} --with-key -</code>
              <p class="soft">Then paste the key. After that, every svc command works there.</p>
            </dd>
          </>
        )}
        <dt>In a program</dt>
        <dd>
          <p class="soft">Set these in its environment, from your secret store:</p>
          <code class="mono">SVC_GATEWAY={publicUrl}</code>
          <br />
          <code class="mono">SVC_API_KEY</code>: the key
        </dd>
        <dt>For an agent</dt>
        <dd>
          <code class="mono">svc mcp install claude-code</code>
          <p class="soft">
            Or codex, or cursor. Any other MCP client takes the address{' '}
            <code class="mono">{server.urls.mcp}</code> with the header{' '}
            <code class="mono">Authorization: Bearer</code> and the key.
          </p>
        </dd>
      </dl>
    </section>
  );
}
