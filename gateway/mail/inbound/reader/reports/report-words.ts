// Reports in the words of mail servers, which follow no standard.
import { oneLine } from '../../../plain-text.ts';
import type {
  MailReport,
  ReportedRecipient,
} from '../../../../commit/commands/mail/mail-report.ts';
import { hasNoSender, isAbsence, isAutomatic, isOfDaemon } from './automatic.ts';
import { plainAddresses, type MailHeader } from '../headers.ts';
import { directionOf } from '../text/mail-direction.ts';

/** A report says what happened at its beginning. */
const TEXT_MAX_CHARS = 20_000;
const RECIPIENTS_MAX = 100;
const DIAGNOSTIC_MAX_CHARS = 500;

/** The Message-ID of a mail of ours, anywhere in a text. */
const OUR_ID = /msg_[0-9a-z]{26}@[^<>\s"']{1,255}/;

/** Subjects of reports. */
const NOTICES = [
  'undeliver',
  'mail delivery',
  'delivery (?:status|fail|has failed|report|problem|error|delay)',
  'failure notice',
  'failed delivery',
  'delivery incomplete',
  'message delivery',
  'mail failure',
  'returned mail',
  'returned to sender',
  'mail returned',
  'returned message',
  'non-?deliver',
  "(?:could not|couldn't|cannot|can't|not) be(?:en)? delivered",
  'not delivered',
  'nondeliver',
  'delayed',
  'warning: (?:could not|message|mail)',
  'mail system error',
  'unable to deliver',
  'unzustellbar',
  'nicht zustellbar',
  'nicht zugestellt',
  'zustellung',
  'verzögert',
  'non remis',
  'non distribu',
  'échec de (?:la )?(?:remise|distribution)',
  'retardé',
  'no se (?:puede|pudo|ha podido) entregar',
  'no entregado',
  'error de entrega',
  'no entregable',
  'non recapitabile',
  'mancato recapito',
  'non consegnat',
  'mancata consegna',
  'não (?:foi )?entregue',
  'não é possível entregar',
  'falha na entrega',
  'não entregável',
  'onbestelbaar',
  'niet bezorgd',
  'niet worden bezorgd',
  'kunde inte levereras',
  'går inte att leverera',
  'olevererbar',
  'kan ikke leveres',
  'ikke leveret',
  'ikke levert',
  'ei voitu toimittaa',
  'toimittamatta',
  'niedostarcz',
  'nie można dostarczyć',
  'nedoručite[lľ]n',
  'kézbesíthetetlen',
  'недоставлен',
  'не доставлен',
  'невозможно доставить',
  'не удалось доставить',
  'teslim edileme',
  '退信',
  '无法投递',
  '無法傳遞',
  '未送達',
  '未传递',
  '配信不能',
  '配信でき',
  'zustellfehler',
  'δεν (?:ήταν δυνατή|παραδ)',
  'μη παραδοτέ',
  'לא ניתן למסיר',
  'تعذر (?:التسليم|التوصيل)',
  'nelivrabil',
  'nu s-a putut livra',
  'не вдалося доставити',
  'неможливо доставити',
  'nije moguće isporučiti',
  'ni mogoče dostaviti',
  'no es pot lliurar',
  'không gửi được',
  'tidak terkirim',
  'you sent (?:was )?blocked',
  '반송',
  '배달되지',
];
const NOTICE = new RegExp(NOTICES.join('|'), 'iu');

/** Subjects of reports that a mail has arrived. */
const ARRIVED = /\(success\)|^success|^(?:relayed|delivered|zugestellt|remis|entregado)\s*[:：]/iu;

/** The server still tries. */
const TRIES = [
  'will (?:continue|keep|try|retry|be retried)',
  'still (?:being )?(?:try|retr)',
  'delayed',
  'warning (?:message )?only',
  'not yet been delivered',
  'no action is required',
  'for the past',
  "(?:do not|don't) need to re-?send",
  '\\(delay\\)',
  'will be (?:re)?tried',
  'temporarily deferred',
  'verzögert',
  'weiter(?:hin)? versuch',
  'retardé',
  'continuera',
  'retrasad',
  'seguirá intentando',
  'ritard',
  'atrasad',
  'vertraagd',
  'försena',
  'forsink',
  'opóźni',
  'отложен',
  'задерж',
  '延迟',
  '延遲',
  '遅延',
  '지연',
];
const STILL_TRIES = new RegExp(TRIES.join('|'), 'iu');
const GIVEN_UP =
  /giv(?:e|en|ing) up|permanent (?:error|failure|fatal)|fatal error|failed permanently|has failed|too long|timeout exceeded|could not be delivered|endgültig|définiti/iu;

/** What servers say, with the status that stands for it (RFC 3463); the first that fits counts. */
const REASONS: readonly (readonly [words: RegExp, status: string])[] = [
  [
    /(?:mailbox|inbox|account)(?: is)? full|over ?quota|quota exceeded|exceeded (?:its|their|the) (?:storage|quota)|out of storage|postfach.{0,20}voll|boîte.{0,30}pleine|buzón.{0,20}lleno/iu,
    '5.2.2',
  ],
  [
    /(?:user|recipient|account|mailbox|address|alias)(?: name| account| address)? (?:is )?(?:unknown|not found|disabled|unavailable|invalid|not known|not exist)|unknown (?:user|recipient|address|local|mailbox|account)|no such (?:user|recipient|mailbox|address|account|person)|(?:does not|doesn't|not) (?:exist|have an? .{0,40}account|listed)|invalid (?:recipient|mailbox|address)|no mailbox here|not our customer|addressee unknown|unrouteable address|unbekannt|existiert nicht|inconnu|n'existe pas|desconocid|no existe|sconosciut|non esiste|onbekend|bestaat niet|не существует|неизвестн/iu,
    '5.1.1',
  ],
  [
    /(?:host|domain)(?: name)?(?: is)? (?:unknown|not found|lookup failed)|unknown (?:host|domain)|no such (?:host|domain)|couldn't find any host|all relevant mx records point to non-existent/iu,
    '5.1.2',
  ],
  [/too (?:large|big)|exceeds? (?:the )?(?:maximum )?(?:message )?size|size limit/iu, '5.3.4'],
  [
    /spam|blocked|blacklist|block ?list|policy|reputation|not authori[sz]ed|access denied|rejected|prohibited|abgelehnt|refus|rechazad/iu,
    '5.7.1',
  ],
  [
    /timed? ?out|retry time|connection refused|temporar|try again|wasn't able to establish|too long|greylist|unreachable|expired|could not connect/iu,
    '4.4.7',
  ],
];

/** Our Message-ID in a text, with its angle brackets; null if there is none. */
export function ourIdIn(text: string): string | null {
  const id = OUR_ID.exec(text)?.[0];
  return id === undefined ? null : `<${id}>`;
}

/** The report in the words of a mail server; null if neither its header nor its text looks like one. */
export function reportInWords(
  header: MailHeader,
  text: string,
  original: string | null,
): MailReport | null {
  const about = text.slice(0, TEXT_MAX_CHARS).split(COPY, 1)[0] ?? '';
  const said = SAID.exec(about)?.[0] ?? null;
  const status = said ?? meantBy(about);
  const action = actionOf(header.subject(), about);
  const basis = basisOf(header, { said, status, action, isNotice: NOTICE.test(about) });
  if (basis === null) return null;
  const named = plainAddresses(header.first('x-failed-recipients'));
  const addresses = named.length > 0 ? named : [plainAddresses(about)[0] ?? null];
  const diagnostic = oneLine(diagnosticOf(about), DIAGNOSTIC_MAX_CHARS) || null;
  const recipients = addresses
    .slice(0, RECIPIENTS_MAX)
    .map((address) => ({ address, action, status, diagnostic }));
  const original_message_id = original ?? ourIdIn(text);
  return { kind: 'delivery', basis, original_message_id, recipients };
}

function meantBy(about: string): string | null {
  return REASONS.find(([words]) => words.test(about))?.[1] ?? null;
}

interface Saying {
  /** A status that stands in the text. */
  readonly said: string | null;
  /** The same, or what its words mean. */
  readonly status: string | null;
  readonly action: ReportedRecipient['action'];
  /** The text has words of a report. */
  readonly isNotice: boolean;
}

/** What shows that this is a report; null if nothing does. */
function basisOf(header: MailHeader, saying: Saying): 'words' | 'guess' | null {
  const { said, status, action, isNotice } = saying;
  const isFailure = action === 'failed';
  if (isByServer(header, status !== null || isNotice || !isFailure)) return 'words';
  if (isAbsence(header.subject())) return null;
  const isClear = /^5\.[123]/.test(status ?? '') || (isNotice && hasNoSender(header));
  return said !== null || (isFailure && isClear) ? 'guess' : null;
}

/** `5.1.1` that is no part of a number with more parts. */
const SAID = /(?<![\d.])[45]\.\d{1,3}\.\d{1,3}(?!\.?\d)/;
/** Where a report's copy of the mail begins. */
const COPY =
  /^(?:[-\s]{0,10}-{2,}\s*(?:this is a copy|below this line|a copy of|original message|(?:the )?header of|unsent message|returned message|message header)|(?:received|return-path|message-id|dkim-signature|mime-version)\s*:|original message headers?\s*:)/im;

/** A mail server wrote it. An absence notice may have the subject of a mail about a delivery, but not its text. */
function isByServer(header: MailHeader, hasReason: boolean): boolean {
  const subject = header.subject();
  if (header.first('x-failed-recipients') !== '' || isOfDaemon(header)) return true;
  const isPostmaster = header.writers().some((address) => /^postmaster@/i.test(address));
  if (!(isPostmaster || isAutomatic(header))) return false;
  // Nobody else writes to no sender in a postmaster's name, whatever language the reason is in.
  if (!hasReason && !(isPostmaster && hasNoSender(header))) return false;
  return NOTICE.test(subject) && !isAbsence(subject) && directionOf(subject, false) !== 'reply';
}

function actionOf(subject: string, about: string): ReportedRecipient['action'] {
  if (ARRIVED.test(subject)) return 'relayed';
  if (STILL_TRIES.test(subject)) return 'delayed';
  return STILL_TRIES.test(about) && !GIVEN_UP.test(about) ? 'delayed' : 'failed';
}

/** The line with the server's answer, else the first that says why, else the beginning. */
function diagnosticOf(about: string): string {
  const lines = about.split('\n').map((line) => line.trim());
  const found =
    lines.find((line) => SAID.test(line) || /(?:^|[\s:<(#])[45]\d\d[\s#-]/.test(line)) ??
    lines.find((line) => REASONS.some(([words]) => words.test(line)));
  return found ?? about.trim();
}
