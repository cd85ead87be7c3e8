import type { JSX } from 'hono/jsx/jsx-runtime';
import { Icon } from '../../pages/icons.tsx';
import { AgentText } from '../../pages/request-copy.tsx';
import { CopyField } from '../fields.tsx';
import type { NewKey } from '../key-queries.ts';
import type { PageResult, PageContext } from '../page-context.ts';

/** A new key with its secret, which people see only on this page. */
export function showNewKey(context: PageContext, key: NewKey, how: 'made' | 'rotated'): PageResult {
  const title = how === 'made' ? 'Key created' : 'New secret created';
  const content = (
    // A refresh would remove the key, so this content never refreshes.
    <div class="narrow stack" data-keep>
      <h1>{title}</h1>
      <div class="note warn">
        <Icon name="warn" />
        <p>
          <strong>Copy it now.</strong> You won’t see it again. Anyone who has it can use it.
        </p>
      </div>
      <section class="card stack" aria-label="The key">
        <CopyField name="key" label="Key" value={key.api_key} />
        <p class="soft">
          <AgentText text={key.name} reading="line" /> ·{' '}
          <span class="mono">{key.scopes.join(', ')}</span>
          {key.disk_prefixes !== null && (
            <>
              {' · only '}
              <AgentText text={key.disk_prefixes.join(', ')} reading="exact" />
            </>
          )}
        </p>
      </section>
      <HowToUse context={context} />
      <div class="ways">
        <a class="btn small" href={context.at('keys')} data-up>
          I’ve copied it
        </a>
      </div>
    </div>
  );
  return { title, content };
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
