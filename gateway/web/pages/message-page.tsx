import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { Document } from './document.tsx';
import { Icon, type IconName } from '../ui/icons.tsx';

interface Message {
  readonly heading: string;
  readonly icon?: IconName;
  readonly children?: Child;
}

/** A page with only a few sentences. */
export function MessagePage({ heading, icon = 'warn', children }: Message): JSX.Element {
  return (
    <Document title={heading} project={null}>
      <div class="end">
        <Icon name={icon} />
        <div>
          <h1>{heading}</h1>
          {children}
        </div>
      </div>
    </Document>
  );
}

/** For both an unknown and a dead link; we don't reveal which. */
export function DeadLinkPage(): JSX.Element {
  return (
    <MessagePage heading="This link doesn’t work" icon="broken">
      <p>It may be incomplete or no longer valid. Opening it changed nothing.</p>
      <p>
        Open the newest message that you were sent, and use the link in it. If that does not work
        either, tell whoever runs the agent: it can ask you again.
      </p>
    </MessagePage>
  );
}
