import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { hashed, written } from '../../../../gateway/mail/inbound/reader/hashed.ts';
import { createVault, loadMasterKey } from '../../../../gateway/lib/vault.ts';
import {
  reportToken,
  tokenAddresses,
} from '../../../../shared/operations/email/project-address.ts';
import { deliverMail, type ArrivedMail } from '../../../../gateway/mail/inbound/deliver.ts';
import type {
  MailReport,
  ReportedRecipient,
} from '../../../../gateway/commit/commands/mail/mail-report.ts';
import type {
  MailFile,
  MailPayload,
  ReadMail,
} from '../../../../gateway/mail/inbound/read-mail.ts';
import { DiskSpace } from '../../../../gateway/projects/limits/disk-space.ts';
import { IngressGuard } from '../../../../gateway/projects/limits/ingress-guard.ts';
import type { Clock } from '../../../../shared/lib/clock.ts';
import { parsedMail, valuesOf } from '../parsed-mail.ts';
import { DOMAIN, type TestSending } from '../outbound/sending.ts';

const sha256 = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('hex');

let nth = 0;

/** A mail as the reader understood it: from Ana, verified, with little in it. */
export function mailWith(
  payload: Partial<MailPayload> = {},
  { html = null, ...more }: Partial<Omit<ReadMail, 'html'>> & { html?: Uint8Array | null } = {},
): ReadMail {
  nth += 1;
  return {
    digest: sha256(`mail ${nth}`),
    size_bytes: 1234,
    verified: true,
    ...written({
      message_id: `<${nth}@example.com>`,
      from: { address: 'ana@example.com', name: 'Ana' },
      to: [{ address: `shop@${DOMAIN}`, name: '' }],
      cc: [],
      reply_to: [],
      subject: 'An order',
      date: '2026-01-02T03:00:00.000Z',
      in_reply_to: null,
      references: [],
      text: 'Two of them.\n\nAna',
      text_stripped: 'Two of them.',
      authentication: {
        dkim: 'pass',
        dmarc: 'pass',
        spf: 'none',
        from_domain: 'example.com',
        aligned: true,
        unsigned: [],
      },
      auto_submitted: false,
      incomplete: null,
      ...payload,
    }),
    html: html && hashed(html),
    files: [],
    blocked: [],
    delivered_to: [],
    addressed_to: [],
    report: null,
    ...more,
  };
}

export function fileWith(
  name: string,
  content: string | Uint8Array,
  content_type = 'text/plain',
): MailFile {
  const bytes = Buffer.from(content);
  return { name, content_type, content_id: null, inline: false, sha256: sha256(bytes), bytes };
}

/** A report about one recipient. */
export function reportWith(
  recipient: Partial<ReportedRecipient>,
  original: string | null = null,
): MailReport {
  return {
    kind: recipient.action === 'complaint' ? 'complaint' : 'delivery',
    basis: 'fields',
    original_message_id: original,
    recipients: [{ address: null, action: 'failed', status: null, diagnostic: null, ...recipient }],
  };
}

/** A guard of a disk that always has room. */
export function guardWith(clock: Clock): IngressGuard {
  const disk = new DiskSpace({
    folders: [],
    reserveBytes: 0,
    giveUp: async () => undefined,
    sizes: async () => new Map(),
    now: () => clock.now(),
    onChange: () => undefined,
    onError: () => undefined,
  });
  return new IngressGuard({ clock, disk, onRefused: () => undefined });
}

/** Brings a mail to a project, as it came to these addresses. */
export async function arrive(
  { project, clock }: TestSending,
  mail: ReadMail,
  more: Partial<ArrivedMail> = {},
): ReturnType<typeof deliverMail> {
  const source = (await project.store.read((store) => store.sources.email())) ?? null;
  const recipients = [`${project.info.slug}@${DOMAIN}`];
  const came = { mail, recipients, domain: DOMAIN, source, now: clock.now(), ...more };
  return deliverMail(project, came, guardWith(clock));
}

/** The id of the event that a mail became. */
export async function arrived(...given: Parameters<typeof arrive>): Promise<string> {
  const outcome = await arrive(...given);
  if (outcome === null || outcome === 'report') throw new Error(`It became ${outcome}.`);
  return outcome.event_id;
}

/** A message that was sent, with the addresses that answers to it and reports about it go to. */
export async function sentMessage(
  sending: TestSending,
  to = 'ana@example.com',
  more: Record<string, unknown> = {},
): Promise<{ batchId: string; messageId: string; address: string; reportTo: string }> {
  const batchId = await sending.sent({ to: [to], ...more });
  const [message] = await sending.ended(batchId);
  const messageId = message?.message_id ?? '';
  const raw = sending.outbox().find((one) => one.includes(`<${messageId}@`)) ?? '';
  const [address = ''] = valuesOf(parsedMail(raw), 'reply-to');
  const { info } = sending.project;
  const vault = createVault(loadMasterKey(join(sending.gateway.folder, 'master.key')));
  const token = reportToken(vault, info.id, messageId);
  const { returnPath: reportTo } = tokenAddresses(DOMAIN, info.slug, token);
  return { batchId, messageId, address, reportTo };
}
