// The lines by which mail programs mark a mail inside another one, in the languages they come in.

/** Above a mail that is sent on. */
const FORWARDED: ReadonlySet<string> = new Set([
  'begin forwarded message',
  'start of forwarded message',
  'this is a forwarded message',
  'weitergeleitete nachricht',
  'anfang der weitergeleiteten nachricht',
  'weitergeleitete e-mail',
  'message transféré',
  'début du message transféré',
  'début du message réexpédié',
  'message réexpédié',
  'mensaje reenviado',
  'inicio del mensaje reenviado',
  'messaggio inoltrato',
  'inizio messaggio inoltrato',
  'mensagem encaminhada',
  'mensagem reencaminhada',
  'início da mensagem encaminhada',
  'início da mensagem reencaminhada',
  'doorgestuurd bericht',
  'begin doorgestuurd bericht',
  'vidarebefordrat meddelande',
  'vidarebefordrat brev',
  'videresendt meddelelse',
  'videresendt besked',
  'videresendt melding',
  'start på videresendt besked',
  'start på videresendt melding',
  'välitetty viesti',
  'välitetty viesti alkaa',
  'treść przekazanej wiadomości',
  'wiadomość przekazana dalej',
  'przekazana wiadomość',
  'początek przekazywanej wiadomości',
  'přeposlaná zpráva',
  'začátek přeposílané zprávy',
  'preposlaná správa',
  'továbbított üzenet',
  'továbbított levél',
  'továbbított levél kezdete',
  'mesaj redirecționat',
  'προωθημένο μήνυμα',
  'αρχή προωθημένου μηνύματος',
  'пересылаемое сообщение',
  'пересылаемое письмо',
  'начало пересылаемого сообщения',
  'начало переадресованного сообщения',
  'переслане повідомлення',
  'iletilen mesaj',
  'iletilmiş mesaj',
  'yönlendirilen ileti',
  '转发的邮件',
  '转发邮件信息',
  '轉寄郵件',
  '開始轉寄郵件',
  '轉寄的郵件',
  '転送メッセージ',
  '転送されたメッセージ',
  '전달된 메시지',
  '전달된 메일',
  'הודעה שהועברה',
  'رسالة معاد توجيهها',
  'rozpoczęcie przekazywanej wiadomości',
  'iletilmiş mesajın başlangıcı',
  'yönlendirilmiş ileti',
  'תחילת ההודעה המועברת',
  'έναρξη προωθημένου μηνύματος',
  'начало пересланного сообщения',
  'пересланное сообщение',
  'перенаправленное сообщение',
  'перенаправлене повідомлення',
  'початок листа, який пересилається',
  'початок пересланого повідомлення',
  'препратено съобщение',
  'proslijeđena poruka',
  'prosleđena poruka',
  'прослеђена порука',
  'posredovano sporočilo',
  'persiųstas laiškas',
  'persiųstas pranešimas',
  'pārsūtīts ziņojums',
  'edastatud kiri',
  'missatge reenviat',
  'áframsend skilaboð',
  'thư chuyển tiếp',
  'bắt đầu thư được chuyển tiếp',
  'pesan terusan',
  'pesan yang diteruskan',
  'ข้อความที่ส่งต่อ',
  'เริ่มข้อความที่ส่งต่อ',
  'mail transféré',
  'weitergeleitete mail',
  'přeposlaná e-mailová zpráva',
  '转发的消息',
  '轉寄的訊息',
]);
/** The same with a name or a time in it. */
const FORWARDED_BY =
  /^(?:(?:begin |start of )?forwarded (?:message|mail|e-?mail)\b|(?:forwarded|weitergeleitet|transmis|transféré|reenviado|inoltrato|encaminhado|doorgestuurd) (?:by|von|par|por|da|door) .*\d)/i;

/** Above a mail that is answered or sent on: many programs write the same for both. */
const ORIGINAL: ReadonlySet<string> = new Set([
  'original message',
  'original appointment',
  'original email',
  'original message text',
  'ursprüngliche nachricht',
  'originalnachricht',
  'original-nachricht',
  'ursprünglicher termin',
  "message d'origine",
  'message original',
  "courriel d'origine",
  'mensaje original',
  'messaggio originale',
  'mensagem original',
  'oorspronkelijk bericht',
  'ursprungligt meddelande',
  'originalmeddelande',
  'oprindelig meddelelse',
  'opprinnelig melding',
  'alkuperäinen viesti',
  'wiadomość oryginalna',
  'oryginalna wiadomość',
  'původní zpráva',
  'pôvodná správa',
  'eredeti üzenet',
  'mesajul original',
  'mesaj original',
  'αρχικό μήνυμα',
  'исходное сообщение',
  'оригинальное сообщение',
  'вихідне повідомлення',
  'özgün ileti',
  'orijinal ileti',
  'orijinal mesaj',
  '原始邮件',
  '原始郵件',
  '元のメッセージ',
  '원본 메시지',
  'הודעה מקורית',
  'الرسالة الأصلية',
]);

const FROM =
  /^\*{0,2}(?:from|von|de|da|van|från|fra|lähettäjä|od|от|від|kimden|gönderen|feladó|de la|expéditeur|απ[όο]|发件人|發件人|寄件者|寄件人|差出人|送信者|보낸 사람|보낸사람|מאת|من)\s*[:：]/i;
const OTHER_FIELD =
  /^\*{0,2}(?:sent|date|to|subject|cc|gesendet|datum|an|betreff|kopie|envoyé|à|objet|enviado|enviado el|enviada em|fecha|para|asunto|data|inviato|a|oggetto|verzonden|aan|onderwerp|assunto|skickat|till|ämne|kopia|sendt|dato|til|emne|lähetetty|vastaanottaja|aihe|päivämäärä|wysłano|do|temat|odesláno|komu|předmět|odoslané|predmet|elküldve|címzett|tárgy|trimis|către|subiect|στάλθηκε|προς|θέμα|отправлено|дата|кому|копия|тема|надіслано|gönderildi|gönderme tarihi|kime|konu|tarih|发送时间|發送時間|寄件日期|收件人|收件者|主题|主題|主旨|日期|送信日時|日付|宛先|件名|보낸 날짜|받는 사람|받는사람|제목|날짜|נשלח|אל|נושא|תאריך|تاريخ|إلى|الموضوع)\s*[:：]/i;

/** How many lines a block of headers may have after its first. */
const BLOCK_LINES_MAX = 8;
/** The marks that programs put around parts of a line in another direction. */
const DIRECTIONS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
/** Longer lines don't mark anything. */
const MARK_MAX_CHARS = 500;

/** `forwarded` if only a mail that is sent on stands below this line; `either` if it may be one that is answered. */
export type QuoteMark = 'forwarded' | 'either';

/** What a line marks by itself, or as the first one of a block such as `From:`, `Sent:`, `To:`; null for any other. */
export function quoteMarkAt(lines: readonly string[], index: number): QuoteMark | null {
  const line = markIn(lines, index);
  if (line === '') return null;
  const text = line
    .replace(/^[-_*=~<\s]{1,80}/, '')
    .replace(/[-_*=~>:：\s]{1,80}$/, '')
    .replaceAll('’', "'");
  // A dotted capital I in lower case keeps its dot as a mark of its own.
  const words = text.toLowerCase().normalize('NFC').replaceAll('\u0307', '');
  if (FORWARDED.has(words) || FORWARDED_BY.test(words)) return 'forwarded';
  return ORIGINAL.has(words) || startsHeaders(lines, index) ? 'either' : null;
}

/** A line that may mark a quote; empty if it's too long for that, or missing. */
export function markIn(lines: readonly string[], index: number): string {
  const line = lines[index] ?? '';
  return line.length > MARK_MAX_CHARS ? '' : line.replaceAll(DIRECTIONS, '').trim();
}

/** The header block that Outlook puts above a mail: `From:`, then at least two more fields. Others begin with the date. */
function startsHeaders(lines: readonly string[], index: number): boolean {
  const line = markIn(lines, index);
  const isFrom = FROM.test(line);
  if (!isFrom && !OTHER_FIELD.test(line)) return false;
  const next = Array.from({ length: BLOCK_LINES_MAX }, (_, at) => markIn(lines, index + 1 + at));
  const others = next.filter((one) => OTHER_FIELD.test(one)).length;
  if (isFrom) return others >= 2;
  const [second = '', third = ''] = next;
  return others >= 1 && [second, third].some((one) => FROM.test(one) && one.includes('@'));
}
