import { STATE_PREFIX } from '../../../../../shared/rules/disk-name.ts';
import { AgentText } from '../../../pages/request-copy.tsx';
import { lengthOfTime } from '../../../pages/time.ts';
import { bytesText } from '../../bytes-text.ts';
import { keyLevel } from '../../disk-queries.ts';
import { Age } from '../../event-copy.tsx';
import { Row } from '../../parts.tsx';
import type { PageContext, PageResult } from '../../page-context.ts';
import { Crumbs, DiskHead, diskUrl, LevelRows, PrefixForm } from './parts.tsx';

/** The keys of the store, folder by folder. */
export async function showKeys(context: PageContext): Promise<PageResult> {
  const prefix = context.query('prefix') ?? '';
  const level = await keyLevel(context, prefix);
  const content = (
    <>
      <DiskHead context={context} section={undefined} />
      <PrefixForm prefix={prefix} what="Keys" />
      <Crumbs context={context} section={undefined} under={level.under} />
      <LevelRows
        context={context}
        section={undefined}
        level={level}
        name="Keys"
        empty="No keys here. Agents write them with kv_set."
      >
        {(head) => (
          <Row href={diskUrl(context, undefined, { key: head.key })}>
            <AgentText
              text={head.key.slice(level.under.length) || '(no name)'}
              reading="exact"
              class="what mono"
            />
            <span class="soft">{bytesText(head.size_bytes)}</span>
            <span class="meta">
              written <Age at={head.updated_at} now={context.now} /> · version{' '}
              {head.version.toString()}
              {head.expires_at !== null &&
                ` · expires in ${lengthOfTime(head.expires_at - context.now)}`}
            </span>
          </Row>
        )}
      </LevelRows>
      {level.under === STATE_PREFIX && (
        <p class="soft">
          These are <a href={diskUrl(context, 'states')}>task states</a>, each with its versions.
        </p>
      )}
    </>
  );
  return { title: 'Disk', content };
}
