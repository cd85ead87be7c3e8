import { AgentText } from '../../../pages/request-copy.tsx';
import { bytesText } from '../../bytes-text.ts';
import { fileLevel } from '../../disk-queries.ts';
import { Age } from '../../event-copy.tsx';
import { Row } from '../../parts.tsx';
import type { PageContext, PageResult } from '../../page-context.ts';
import { Crumbs, DiskHead, diskUrl, LevelRows, PrefixForm } from './parts.tsx';

/** The files, folder by folder. */
export async function showFiles(context: PageContext): Promise<PageResult> {
  const prefix = context.query('prefix') ?? '';
  const level = await fileLevel(context, prefix);
  const content = (
    <>
      <DiskHead context={context} section="files" />
      <PrefixForm prefix={prefix} what="Files" />
      <Crumbs context={context} section="files" under={level.under} />
      <LevelRows
        context={context}
        section="files"
        level={level}
        name="Files"
        empty="No files here. Agents write them with file_put. Files that came with mail are on the event’s page."
      >
        {({ path, size_bytes, content_type, updated_at }) => (
          <Row href={diskUrl(context, 'files', { path })}>
            <AgentText text={path.slice(level.under.length)} reading="exact" class="what mono" />
            <span class="soft">{bytesText(size_bytes)}</span>
            <span class="meta">
              <AgentText text={content_type} reading="line" /> · written{' '}
              <Age at={updated_at} now={context.now} />
            </span>
          </Row>
        )}
      </LevelRows>
    </>
  );
  return { title: 'Files', content };
}
