import { describe, expect, it } from 'vitest';
import { mailParts } from '../../../shared/rules/mail/mail-parts.ts';

describe('what came with a mail', () => {
  it('is read as it was stored', () => {
    const parts = {
      attachments: [
        {
          name: 'a.pdf',
          content_type: 'application/pdf',
          size_bytes: 3,
          content_id: null,
          inline: false,
          sha256: '00',
        },
      ],
      attachments_blocked: [
        {
          name: 'a.exe',
          content_type: 'application/octet-stream',
          size_bytes: 3,
          reason: 'executable' as const,
        },
      ],
      html: true,
    };
    expect(mailParts(JSON.stringify(parts))).toEqual(parts);
  });

  it('is nothing once it was purged', () => {
    expect(mailParts('{}')).toEqual({ attachments: [], attachments_blocked: [], html: false });
  });
});
