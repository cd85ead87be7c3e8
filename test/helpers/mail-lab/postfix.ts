import { lmtpSocket } from './dovecot.ts';

export interface PostfixConfig {
  readonly folder: string;
  readonly smtpPort: number;
  readonly bouncerPort: number;
  readonly milterSocket: string;
}

/** Where every recipient of inbox.test ends up. */
export const CATCH_ALL = 'catchall@inbox.test';

/** `main.cf` of Postfix 3.5 and later. Nothing leaves the machine: other domains are refused. */
export function mainSettings(place: PostfixConfig): string {
  const { folder, bouncerPort, milterSocket } = place;
  return `
compatibility_level = 3.6
queue_directory = ${folder}/postfix-queue
data_directory = ${folder}/postfix-data
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
mail_owner = postfix
setgid_group = postdrop
maillog_file = ${folder}/postfix.log
maillog_file_prefixes = ${folder}
myhostname = mx.inbox.test
mydestination =
local_recipient_maps =
alias_maps =
alias_database =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
virtual_alias_domains =
virtual_alias_maps = inline:{ { @inbox.test = ${CATCH_ALL} } }
virtual_mailbox_domains = inbox.test, people.test
virtual_mailbox_maps = static:ok
virtual_transport = lmtp:unix:${lmtpSocket(folder)}
lmtp_destination_recipient_limit = 1
relay_domains = bounce.test
transport_maps = inline:{ bounce.test=relay:[127.0.0.1]:${bouncerPort} }
default_transport = error:5.7.1 Not in this lab
smtp_dns_support_level = disabled
smtp_host_lookup = native
message_size_limit = 40000000
minimal_backoff_time = 2s
maximal_backoff_time = 2s
queue_run_delay = 2s
smtpd_recipient_restrictions = permit_mynetworks, reject
smtpd_milters = unix:${milterSocket}
milter_default_action = tempfail
`;
}

/** `master.cf`: the services that a server needs which takes mail by SMTP alone. */
export function services(smtpPort: number): string {
  const lines = [
    `127.0.0.1:${smtpPort} inet n - n - - smtpd`,
    'cleanup unix n - n - 0 cleanup',
    'qmgr unix n - n 300 1 qmgr',
    'rewrite unix - - n - - trivial-rewrite',
    'bounce unix - - n - 0 bounce',
    'defer unix - - n - 0 bounce',
    'trace unix - - n - 0 bounce',
    'proxymap unix - - n - - proxymap',
    'anvil unix - - n - 1 anvil',
    'scache unix - - n - 1 scache',
    'error unix - - n - - error',
    'retry unix - - n - - error',
    'relay unix - - n - - smtp',
    // X: this is the last stop; O: keep whom it was for in X-Original-To.
    'lmtp unix - - n - - lmtp flags=OX',
    'postlog unix-dgram n - n - 1 postlogd',
  ];
  return `${lines.join('\n')}\n`;
}

/** Settings of OpenDKIM: it signs what people.test sends. */
export function signerSettings(place: {
  readonly milterSocket: string;
  readonly keyFile: string;
  readonly selector: string;
}): string {
  return [
    'Syslog no',
    'Mode s',
    'UMask 000',
    `Socket local:${place.milterSocket}`,
    'Canonicalization relaxed/relaxed',
    'Domain people.test',
    `Selector ${place.selector}`,
    `KeyFile ${place.keyFile}`,
    'InternalHosts 127.0.0.1',
    'RequireSafeKeys no',
    '',
  ].join('\n');
}
