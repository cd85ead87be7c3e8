import { sizeText } from './sizes.ts';
import type { DaemonStatus } from '../../daemon/record.ts';
import type { View } from './output.ts';
import { pairLines } from './pairs.ts';
import { adviceLines, peopleAdvice, peoplePairs } from './people-status.ts';
import { replicaAdvice, replicaPairs } from './status-replica.ts';
import { timeText, type Look } from './table.ts';
import { safeLine } from './terminal-text.ts';

interface Places {
  readonly dataFolder: string;
  readonly dataBytes: number;
  readonly logFile: string;
}

/** A running daemon for a person: what runs and since when, then where. */
export function statusView(status: DaemonStatus, places: Places): View {
  return { lines: (look) => statusLines(status, places, look) };
}

function statusLines(status: DaemonStatus, places: Places, look: Look): string[] {
  const { version, pid, state, started_at, base_url, mcp_url, hooks_url, socket } = status;
  const runs = state === 'ready' ? 'is running' : 'is starting';
  const since = timeText(started_at, look.now);
  // A daemon of an earlier release tells nothing of it.
  const people = status.people ?? null;
  const pairs = [
    ['Address', base_url],
    ['MCP', mcp_url],
    ['Webhooks', `${hooks_url}/w/…`],
    ['Socket', socket],
    ['Project', status.project ?? '–'],
    ['Data', `${sizeText(places.dataBytes)} in ${places.dataFolder}`],
    ['Memory', sizeText(status.memory.rss_bytes)],
    ['Log', places.logFile],
    ...(people ? peoplePairs(people) : []),
    ...replicaPairs(status),
  ] as const;
  return [
    look.bold(safeLine(`svc ${version} ${runs} (pid ${pid}) since ${since}`)),
    '',
    ...pairLines(pairs, look, '  '),
    ...adviceLines([...(people ? peopleAdvice(people) : []), ...replicaAdvice(status)], look),
  ];
}
