import {
  readServerUrl,
  type Complain,
  type Credentials,
  type ServerAddress,
} from '../server-url.ts';

/** The mailbox that mail comes from, and how to connect to it. */
export interface ImapConfig extends ServerAddress, Credentials {
  /** `INBOX`, or the name of a folder with its server's separators. */
  readonly mailbox: string;
}

const SETTING = 'SVC_IMAP_URL';
const IMAP_PORT = 143;
const IMAPS_PORT = 993;
/** Folder names have no control characters (RFC 9051 section 5.1). */
const MAILBOX = /^[^\p{Cc}]{1,255}$/u;

/**
 * Reads SVC_IMAP_URL, `imaps://user:password@host:993/INBOX` or `imap://…` (RFC 5092), with TLS as in SVC_SMTP_URL. Null
 * after reporting a problem.
 */
export function readImapConfig(text: string, complain: Complain): ImapConfig | null {
  const server = readServerUrl(
    text,
    {
      setting: SETTING,
      scheme: 'imap',
      ports: [IMAP_PORT, IMAPS_PORT],
      example: 'imap://user:password@host:143/INBOX',
    },
    complain,
  );
  if (!server) return null;
  const { credentials, path, ...address } = server;
  const mailbox = readMailbox(path, complain);
  if (!/^[^/]*\/\/[^/]*@/.test(text)) complain(`${SETTING} has no user name and password.`);
  return credentials && mailbox !== null ? { ...address, ...credentials, mailbox } : null;
}

function readMailbox(path: string, complain: Complain): string | null {
  try {
    const mailbox = decodeURIComponent(path.replace(/^\//, '')) || 'INBOX';
    if (!path.includes('#') && MAILBOX.test(mailbox)) return mailbox;
  } catch {
    // Reported below.
  }
  complain(
    `${SETTING}: after the host comes the name of one mailbox, with % and # written as %25 and %23.`,
  );
  return null;
}
