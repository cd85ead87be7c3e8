import type { JSX } from 'hono/jsx/jsx-runtime';
import { fileDelete } from '../../../../../shared/operations/file/delete.ts';
import { fileGet } from '../../../../../shared/operations/file/get.ts';
import { isReservedPath } from '../../../../../shared/rules/disk-name.ts';
import { digitsOf } from '../../../pages/number.ts';
import { AgentText, Ago } from '../../../pages/request-copy.tsx';
import { confirm } from '../../confirm.tsx';
import { linksTo, type FileLink } from '../../disk-queries.ts';
import { Fact, Problem, UpLink } from '../../parts.tsx';
import { fieldsOf, refusalOf } from '../../refusal.ts';
import type { ActionResult, FormError, PageContext, PageResult } from '../../page-context.ts';
import { LinkRows } from './links.tsx';
import { diskUrl, mayChange } from './parts.tsx';
import { downloadUrl, picturesFrom, Preview, type ReadFile } from './preview.tsx';

/** The answer of `file_get`. */
interface Answer extends ReadFile {
  readonly sha256: string;
}

/** One file: what's in it, and the links to it. */
export async function showFile(context: PageContext, path: string): Promise<PageResult> {
  const file = (await context.call(fileGet, { path })) as Answer;
  const isAsked = context.query('step') === 'delete' && mayDelete(context, path);
  return isAsked ? askToDelete(context, file) : shown(context, file);
}

/** Deletes the file, unless somebody replaced it since the visitor saw it. */
export async function actOnFile(
  context: PageContext,
  path: string,
  body: string,
): Promise<ActionResult> {
  const form = fieldsOf(body, ['act', 'version']);
  const version = Number(form?.version);
  const file = (await context.call(fileGet, { path })) as Answer;
  if (form?.act !== 'delete' || !Number.isSafeInteger(version)) {
    const problem = 'We couldn’t read the form. Nothing was deleted.';
    return shown(context, file, { status: 400, problem });
  }
  try {
    await context.call(fileDelete, { path, if_version: version });
  } catch (error) {
    const { status, text } = refusalOf(error, []);
    return shown(context, file, { status, problem: text });
  }
  return { to: folderOf(context, path) };
}

function folderOf(context: PageContext, path: string): string {
  return diskUrl(context, 'files', { prefix: path.slice(0, path.lastIndexOf('/') + 1) });
}

function mayDelete(context: PageContext, path: string): boolean {
  return mayChange(context) && !isReservedPath(path);
}

function askToDelete(context: PageContext, { path, version }: Answer): PageResult {
  return confirm(context, {
    heading: 'Delete this file?',
    back: diskUrl(context, 'files', { path }),
    consequences: (
      <>
        <p>
          <AgentText text={path} reading="exact" class="mono" />
        </p>
        <p>It’s gone at once, and its public links stop working.</p>
      </>
    ),
    fields: <input type="hidden" name="version" value={version.toString()} />,
    act: 'delete',
    yes: 'Yes, delete it',
  });
}

async function shown(
  context: PageContext,
  file: Answer,
  { status = 200, problem = null }: FormError = {},
): Promise<PageResult> {
  const { path } = file;
  const links = await linksTo(context, path);
  const pictures = picturesFrom(context, file);
  const content = (
    <>
      <UpLink href={folderOf(context, path)} whole>
        Files
      </UpLink>
      <div class="stack">
        <h1>
          <AgentText text={path} reading="exact" />
        </h1>
        <Problem text={problem} />
        <Preview context={context} file={file} />
      </div>
      <About context={context} file={file} />
      <Links context={context} links={links} />
    </>
  );
  const framed = { title: 'File', content, status, wide: true };
  return pictures === undefined ? framed : { ...framed, picturesFrom: pictures };
}

function About({
  context,
  file,
}: {
  readonly context: PageContext;
  readonly file: Answer;
}): JSX.Element {
  const { path, size_bytes: size, content_type: type, updated_at: updated, sha256 } = file;
  return (
    <section class="act card stack" aria-labelledby="about">
      <h2 id="about">About this file</h2>
      <dl class="facts">
        <Fact name="Written">
          <Ago at={Date.parse(updated)} now={context.now} />
        </Fact>
        <Fact name="Type">
          <AgentText text={type} reading="line" />
        </Fact>
        <Fact name="Size">{digitsOf(size)} bytes</Fact>
        <Fact name="Version">{file.version.toString()}</Fact>
        <Fact name="SHA-256">
          <span class="exact mono">{sha256}</span>
        </Fact>
      </dl>
      <a
        class="btn small"
        href={downloadUrl(context, file)}
        rel="noreferrer noopener"
        target="_blank"
      >
        Download
      </a>
      {mayDelete(context, path) && (
        <a class="btn small" href={diskUrl(context, 'files', { path, step: 'delete' })}>
          Delete
        </a>
      )}
    </section>
  );
}

function Links({
  context,
  links,
}: {
  readonly context: PageContext;
  readonly links: readonly FileLink[];
}): JSX.Element | null {
  if (links.length === 0) return null;
  return (
    <section class="about" aria-labelledby="links">
      <h2 id="links">Public links</h2>
      <LinkRows context={context} links={links} />
    </section>
  );
}
