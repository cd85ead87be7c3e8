import { pluralize } from '../../../shared/lib/pluralize.ts';
import type { DigestItem, Notification } from '../../approvals/approvals.ts';
import { escapeHtml, fitHtml, shownLine } from './display-text.ts';
import { pageLink, type PageLink } from './page-link.ts';
import { statusWords } from './status.ts';

/** Telegram allows 4,096 without the tags; the rest is reserve for the last lines. */
const LIST_MAX_CHARS = 3300;
const SUMMARY_MAX_CHARS = 160;

/** One message in place of many: what a key asked since it used up the messages that it may send at once. */
export function digestHtml(
  { project, keyName, items }: Extract<Notification, { kind: 'digest' }>,
  publicUrl: string,
): string {
  const asks = items.filter(({ kind }) => kind === 'ask').length;
  const what =
    asks === 0 ? pluralize(items.length, 'notification') : pluralize(asks, 'more request');
  const waits = asks === 0 ? '' : ' for you to decide';
  const lines = [
    `<b>📚 ${what}${waits}</b>`,
    `Project: <code>${escapeHtml(shownLine(`${project.name} (${project.slug})`))}</code>`,
    `Key: <code>${escapeHtml(shownLine(keyName))}</code>`,
    'One message instead of many, because the key sends many or you muted it.',
    '',
  ];
  let shown = 0;
  for (const [index, item] of items.entries()) {
    const line = `${index + 1}. ${itemHtml(item, publicUrl)}`;
    if (lines.join('\n').length + line.length > LIST_MAX_CHARS) break;
    lines.push(line);
    shown += 1;
  }
  if (shown < items.length) lines.push(`And ${items.length - shown} more, in the web inbox.`);
  const inbox = pageLink(publicUrl, '').url.replace(/\/a\/$/, `/ui/p/${project.slug}/requests`);
  lines.push('', `All of them: <code>${escapeHtml(inbox)}</code>`);
  return lines.join('\n');
}

function itemHtml({ kind, opened, token }: DigestItem, publicUrl: string): string {
  const { request } = opened;
  const summary = `<code>${fitHtml(shownLine(request.summary), SUMMARY_MAX_CHARS).html}</code>`;
  if (kind === 'tell') return `ℹ️ ${escapeHtml(statusWords(request).words)}: ${summary}`;
  const risky = request.risk === 'high' ? '⚠️ ' : '';
  return `${risky}${summary}${token === null ? '' : ` ${linkHtml(pageLink(publicUrl, token))}`}`;
}

function linkHtml({ url, isTappable }: PageLink): string {
  return isTappable ? `<a href="${escapeHtml(url)}">Open</a>` : `<code>${escapeHtml(url)}</code>`;
}
