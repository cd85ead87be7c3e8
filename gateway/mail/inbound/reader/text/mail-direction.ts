/** Whether a mail answers another one or sends it on; `unclear` if neither is certain. */
export type MailDirection = 'reply' | 'forward' | 'unclear';

/** What mail programs put before the subject of a mail that they send on. */
const FORWARDS: ReadonlySet<string> = new Set([
  'fw',
  'fwd',
  'fwds',
  'forward',
  'forwarded',
  'wg',
  'weitergeleitet',
  'weiterleitung',
  'tr',
  'transféré',
  'transfert',
  'rv',
  'reenv',
  'reenviado',
  'i',
  'inoltra',
  'inoltrato',
  'enc',
  'encaminhado',
  'doorst',
  'doorgestuurd',
  'vb',
  'vl',
  'videresendt',
  'videresend',
  'vidarebefordrat',
  'välitetty',
  'pd',
  'przekazane',
  'přeposláno',
  'továbbítás',
  'továbbítva',
  'redirecționat',
  'ilt',
  'iletilen',
  'πρθ',
  'προωθ',
  'пересл',
  'переслано',
  'пересылка',
  '转发',
  '轉寄',
  '轉發',
  '転送',
  '전달',
  'הועבר',
  'إعادة توجيه',
  'trs',
  'fs',
  'áframsent',
  'ml',
  'redirecționare',
  'redir',
  'proslijeđeno',
  'prosleđeno',
  'posredovano',
  'preposlané',
  'препратено',
  'препр',
  'persiųsta',
  'pārsūtīts',
  'edasi',
  'edastatud',
  'reenviat',
  'chuyển tiếp',
  'ส่งต่อ',
  'diteruskan',
]);

/** The same for answers. Not `VS:`, which is one in Finnish, and a mail sent on in Danish and Norwegian. */
const REPLIES: ReadonlySet<string> = new Set([
  're',
  'ré',
  'aw',
  'antw',
  'antwort',
  'rép',
  'rif',
  'r',
  'res',
  'resp',
  'sv',
  'svar',
  'odp',
  'vá',
  'válasz',
  'ynt',
  'yanıt',
  'απ',
  'σχετ',
  'на',
  'отв',
  'ответ',
  'bls',
  'atb',
  '回复',
  '回覆',
  '答复',
  '答覆',
  '返信',
  '회신',
  '답장',
  'השב',
  'תשובה',
  'رد',
  'odg',
  'odgovor',
  'ats',
  'vast',
  'отг',
  'відп',
  'tl',
  'trả lời',
  'ตอบกลับ',
  'balas',
]);

/** What a mail server or a list adds in front: `[EXTERNAL]`, `[shop-list]`, `**External**`, `EXT:`. */
const TAGS =
  /^(?:\[(?!\s*fwd?\s*:)[^\]]{1,40}\]\s*(?:[:|–-]\s*)?|[*({<]{0,3}\s*(?:ext(?:ern(?:al|e|o)?)?|spam|junk|caution|warning|secure|encrypted)\s*[*)}>?!]{0,3}(?:\s*[:|–-]\s*|\s+|(?<=[*)}>])))+/i;
/** `Fwd:`, `Re[2]:`, `FW(3):`, `[Fwd:`, `(Fwd)`. */
const PREFIX =
  /^[[(]?\s*([\p{L}\p{M}]{1,20}(?: [\p{L}\p{M}]{1,20})?)\s*(?:[[(^]\s*\d{1,4}\s*[\])]?)?\s*[:：)]/u;

/** The subject as its sender wrote it. */
export function withoutTags(subject: string): string {
  return subject.trim().replace(TAGS, '');
}

/**
 * Reads the outermost prefix of the subject; without one, `answers` says whether the mail names one that it answers. In a
 * language that we don't know, a prefix may say either.
 */
export function directionOf(subject: string, answers: boolean): MailDirection {
  const bare = withoutTags(subject);
  const prefix = (PREFIX.exec(bare)?.[1] ?? '').toLowerCase().normalize('NFC');
  // A dotted capital I in lower case keeps its dot as a mark of its own.
  const word = prefix.replace('\u0307', '');
  if (FORWARDS.has(word) || /\(fwd?\)$/i.test(bare)) return 'forward';
  if (REPLIES.has(word)) return 'reply';
  return answers && word === '' ? 'reply' : 'unclear';
}
