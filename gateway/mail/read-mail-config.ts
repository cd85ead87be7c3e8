import { isIPv4, isIPv6 } from 'node:net';
import { isMailAddress } from '../../shared/rules/mail/mail-address.ts';
import { readDkim } from './dkim-config.ts';
import { readImapConfig } from './inbound/imap-config.ts';
import { LOCAL_FROM, MailConfigError, type MailConfig, type SmtpConfig } from './mail-config.ts';
import { readServerUrl, type Complain } from './server-url.ts';

const SMTP_PORT = 587;
const SMTPS_PORT = 465;
const DNS_PORT = 53;

/**
 * Reads the mail settings. Mail goes out over SVC_SMTP_URL, `smtp://user:password@host:587` or `smtps://…`, which needs
 * SVC_MAIL_FROM; without it mail goes into the outbox. SVC_DKIM_KEY_FILE signs it. Mail to SVC_MAIL_DOMAIN comes in from
 * SVC_IMAP_URL, and SVC_DNS_SERVERS are asked when we check its signatures.
 */
export function readMailConfig(env: Readonly<Record<string, string | undefined>>): MailConfig {
  const problems: string[] = [];
  const complain: Complain = (problem) => problems.push(problem);
  const text = (name: string): string => env[name] ?? '';
  const from = readFrom(text('SVC_MAIL_FROM'), text('SVC_SMTP_URL') !== '', complain);
  const place = text('SVC_SMTP_URL') === '' ? null : readSmtpConfig(text('SVC_SMTP_URL'), complain);
  const imapUrl = text('SVC_IMAP_URL');
  const common = {
    domain: readDomain(text('SVC_MAIL_DOMAIN'), imapUrl !== '', complain),
    imap: imapUrl === '' ? null : readImapConfig(imapUrl, complain),
    dkim: readDkim(env, complain),
    dnsServers: readDnsServers(text('SVC_DNS_SERVERS'), complain),
  };
  if (problems.length > 0) throw new MailConfigError(problems);
  return place ? { kind: 'smtp', ...place, from, ...common } : { kind: 'outbox', from, ...common };
}

function readFrom(text: string, isNeeded: boolean, complain: Complain): string {
  if (text !== '' && !isMailAddress(text)) {
    complain('SVC_MAIL_FROM is not a plain address such as `approvals@example.com`.');
  }
  if (text === '' && isNeeded) complain('SVC_MAIL_FROM is not set: it says who writes.');
  return text || LOCAL_FROM;
}

function readSmtpConfig(
  text: string,
  complain: Complain,
): Omit<SmtpConfig, 'kind' | 'from'> | null {
  const server = readServerUrl(
    text,
    {
      setting: 'SVC_SMTP_URL',
      scheme: 'smtp',
      ports: [SMTP_PORT, SMTPS_PORT],
      example: 'smtp://user:password@host:587',
    },
    complain,
  );
  if (!server) return null;
  const { path, ...place } = server;
  if (!['', '/'].includes(path)) {
    complain('SVC_SMTP_URL: nothing but `?tls=…` may follow the host and its port.');
  }
  return place;
}

function readDomain(text: string, isNeeded: boolean, complain: Complain): string | null {
  const domain = text.toLowerCase();
  if (domain === '') {
    if (isNeeded) complain('SVC_MAIL_DOMAIN is not set: it says whose mail SVC_IMAP_URL holds.');
    return null;
  }
  if (isMailAddress(`a@${domain}`) && !isIPv4(domain)) return domain;
  complain('SVC_MAIL_DOMAIN is not the name of a domain such as `agents.example.com`.');
  return null;
}

function readDnsServers(text: string, complain: Complain): string[] {
  const servers = text.split(',').map((one) => one.trim());
  if (text.trim() === '') return [];
  const read = servers.map(withPort);
  if (!read.includes(null)) return read.filter((one) => one !== null);
  complain(
    'SVC_DNS_SERVERS is not a list of addresses with commas between them, such as `192.0.2.1,[2001:db8::1]:5353`.',
  );
  return [];
}

/** Adds the default port: `192.0.2.1:53` or `[2001:db8::1]:53`. Null if `text` isn't an address. */
function withPort(text: string): string | null {
  if (isIPv6(text)) return `[${text}]:${DNS_PORT}`;
  const [, host = '', inside = host, port = String(DNS_PORT)] =
    /^(\[([^\]]*)\]|[^:]*)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const isAddress = inside === host ? isIPv4(host) : isIPv6(inside);
  return isAddress && Number(port) >= 1 && Number(port) <= 65_535
    ? `${host}:${Number(port)}`
    : null;
}
