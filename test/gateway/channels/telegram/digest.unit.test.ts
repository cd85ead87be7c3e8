import { describe, expect, it } from 'vitest';
import { digestHtml } from '../../../../gateway/channels/telegram/digest.ts';
import type { DigestItem } from '../../../../gateway/approvals/approvals.ts';
import { opened } from '../../mail/samples.ts';

const ABOUT = {
  kind: 'digest',
  project: { name: 'Web Shop', slug: 'web-shop' },
  channel: { id: 'chn_1', label: 'ops' },
  keyName: 'ci',
} as const;

const item = (summary: string, token: string): DigestItem => ({
  kind: 'ask',
  opened: opened({ summary }),
  token,
});

describe('a digest in Telegram', () => {
  it('has a link for each request, and an agent’s text as text', () => {
    const items = [item('Deploy <b>1</b>', 'one'), item('Deploy 2', 'two')];
    expect(digestHtml({ ...ABOUT, items }, 'https://svc.example.com').split('\n')).toEqual([
      '<b>📚 2 more requests for you to decide</b>',
      'Project: <code>Web Shop (web-shop)</code>',
      'Key: <code>ci</code>',
      'One message instead of many, because the key sends many or you muted it.',
      '',
      '1. <code>Deploy &lt;b&gt;1&lt;/b&gt;</code> <a href="https://svc.example.com/a/one">Open</a>',
      '2. <code>Deploy 2</code> <a href="https://svc.example.com/a/two">Open</a>',
      '',
      'All of them: <code>https://svc.example.com/ui/p/web-shop/requests</code>',
    ]);
  });

  it('fits into a message, and says how many are left out', () => {
    const items = Array.from({ length: 60 }, (_, n) => item(`${n} ${'<'.repeat(290)}`, `t${n}`));
    const html = digestHtml({ ...ABOUT, items }, 'https://svc.example.com');
    expect(html.length).toBeLessThan(4096);
    const shown = html.match(/\/a\/t\d+/g)?.length ?? 0;
    expect(html).toContain(`And ${60 - shown} more, in the web inbox.`);
  });
});
