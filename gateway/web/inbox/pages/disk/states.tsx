import { STATE_PREFIX } from '../../../../../shared/rules/disk-name.ts';
import { AgentText } from '../../../pages/request-copy.tsx';
import { bytesText } from '../../bytes-text.ts';
import { keyLevel, newestStates } from '../../disk-queries.ts';
import { Age } from '../../event-copy.tsx';
import { Row } from '../../parts.tsx';
import type { PageContext, PageResult } from '../../page-context.ts';
import { Crumbs, DiskHead, diskUrl, LevelRows, PrefixForm } from './parts.tsx';

/** The states that agents saved of their tasks. */
export async function showStates(context: PageContext): Promise<PageResult> {
  const prefix = context.query('prefix') ?? '';
  const level = await keyLevel(context, STATE_PREFIX + prefix);
  const keys = level.entries.flatMap(({ item }) => (item === null ? [] : [item.key]));
  const newest = await newestStates(context, keys);
  const content = (
    <>
      <DiskHead context={context} section="states" />
      <PrefixForm prefix={prefix} what="Tasks" />
      <Crumbs context={context} section="states" under={level.under.slice(STATE_PREFIX.length)} />
      <LevelRows
        context={context}
        section="states"
        level={level}
        base={STATE_PREFIX}
        name="Task states"
        empty="No states here. Agents save them with state_save."
      >
        {({ key, size_bytes, updated_at }) => {
          const { note = null, agent = null } = newest.get(key) ?? {};
          return (
            <Row href={diskUrl(context, 'states', { task: key.slice(STATE_PREFIX.length) })}>
              <AgentText
                text={key.slice(level.under.length) || '(no name)'}
                reading="exact"
                class="what mono"
              />
              <span class="soft">{bytesText(size_bytes)}</span>
              <span class="meta">
                saved <Age at={updated_at} now={context.now} />
                {agent !== null && (
                  <>
                    {' by '}
                    <AgentText text={agent} reading="line" />
                  </>
                )}
                {note !== null && (
                  <>
                    {' · '}
                    <AgentText text={note} reading="line" />
                  </>
                )}
              </span>
            </Row>
          );
        }}
      </LevelRows>
    </>
  );
  return { title: 'Task states', content };
}
