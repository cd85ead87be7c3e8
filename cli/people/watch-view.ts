import { table, type Look } from '../view/table.ts';
import { cutToWidth, plainText, safeLine } from '../view/terminal-text.ts';
import { decisionMark, decisionSentence, type Asked, type Names } from './decision.ts';
import { counted } from '../../shared/counted.ts';

const COLUMNS = ['asked_at', 'kind', 'risk', 'what', 'expires_at', 'request_id'];

/** What waits for a person now, the oldest first. */
export function waitingLines(requests: readonly Asked[], look: Look): string[] {
  const { length } = requests;
  if (length === 0) return [look.faint('Nothing waits for a person.')];
  const rows = requests.map((request) => ({
    ...request,
    asked_at: request['created_at'],
    what: whatOf(request),
  }));
  const head = `${counted(length, 'request waits', 'requests wait')} for a person`;
  return [look.yellow(cutToWidth(head, look.columns)), ...table(rows, COLUMNS, look)];
}

/** A request that was decided, in a line that stays. */
export function decidedLine(request: Asked, names: Names, look: Look): string {
  const sentence = `${decisionMark(request, look)} ${decisionSentence(request, names)}`;
  return `${sentence} ${look.faint(safeLine(`— ${whatOf(request)} (${plainText(request['request_id'])})`))}`;
}

function whatOf({ action, summary, kind }: Asked): string {
  // The names of the other kinds are said by their summaries.
  return kind === 'approval' ? `${plainText(action)}: ${plainText(summary)}` : plainText(summary);
}
