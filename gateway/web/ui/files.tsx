import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { nounFor } from '../../../shared/lib/pluralize.ts';
import { digitsOf } from './number.ts';
import { line } from './text.tsx';

interface MailFile {
  readonly name: string;
  readonly content_type?: string;
  readonly size_bytes: number;
  /** Where the visitor may open it. */
  readonly url?: string | undefined;
  /** Why it wasn't stored. */
  readonly blocked?: string;
}

/** The files of a mail; nothing if it has none. */
export function FileList({
  files,
  children,
}: {
  readonly files: readonly MailFile[];
  readonly children?: Child;
}): JSX.Element | null {
  if (files.length === 0) return null;
  return (
    <div class="text">
      <h2>Files</h2>
      <ul class="plain">
        {files.map((file) => (
          <li>
            {nameOf(file)} <span class="soft">{aboutFile(file)}</span>
          </li>
        ))}
      </ul>
      {children}
    </div>
  );
}

function nameOf({ name, url, blocked }: MailFile): JSX.Element {
  if (blocked !== undefined) return <s>{line(name)}</s>;
  if (url === undefined) return line(name);
  return (
    <a class="go" href={url} rel="noreferrer noopener">
      {line(name)}
    </a>
  );
}

function aboutFile({ content_type: type = '', size_bytes: size, blocked }: MailFile): Child {
  const bytes = `${digitsOf(size)} ${nounFor(size, 'byte')}`;
  if (blocked !== undefined) return `${bytes}, not stored: ${blocked}`;
  return (
    <>
      {line(type)}, {bytes}
    </>
  );
}
