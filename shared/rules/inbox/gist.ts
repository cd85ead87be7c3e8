import { stringifyExact } from '../../lib/json/exact-json.ts';
import { isObject } from '../../lib/guards.ts';

type Fields = Readonly<Record<string, unknown>>;
type Pair = readonly [name: string, text: string];

/** How many fields of an unknown payload are shown. */
const FIELDS_SHOWN = 6;
const LONGEST_VALUE = 200;

/** An event, as far as it says what it's about. */
interface TellingEvent {
  readonly channel?: unknown;
  readonly headers?: unknown;
  readonly type?: unknown;
  readonly payload?: unknown;
}

/** What an event is about: the few fields of its payload that a person looks for. Outsiders wrote them. */
export function gistPairs(event: TellingEvent): Pair[] {
  const { payload } = event;
  if (!isObject(payload)) return [];
  const pairs = senderOf(event, payload)(payload);
  return pairs
    .filter((pair): pair is [string, string] => pair[1] !== null && pair[1] !== '')
    .map(([name, text]) => [name, text.split('\n')[0]?.slice(0, LONGEST_VALUE) ?? '']);
}

/** `Ines Ferreira <ines@example.com>`, or the bare address. */
export function mailboxText(one: unknown): string {
  if (!isObject(one)) return '(nobody)';
  const [name, address] = [plainText(one['name'] ?? ''), plainText(one['address'] ?? '')];
  return name === '' ? address : `${name} <${address}>`;
}

/** The same on one line, to go with the event's type. */
export function gistLine(event: TellingEvent): string {
  return gistPairs(event)
    .map(([, text]) => text)
    .filter((text) => text !== event.type)
    .join('  ');
}

type MaybePairs = readonly (readonly [name: string, text: string | null])[];

function senderOf(
  { channel, headers, type }: TellingEvent,
  payload: Fields,
): (payload: Fields) => MaybePairs {
  if (channel === 'email') return mailPairs;
  if (channel === 'service' && type === 'request.resolved') return requestPairs;
  const isNamed = isObject(headers) && typeof headers['x-github-event'] === 'string';
  if (isNamed || (isObject(payload['repository']) && isObject(payload['sender']))) {
    return githubPairs;
  }
  return payload['object'] === 'event' && isObject(payload['data']) ? stripePairs : otherPairs;
}

/** What people were asked, and how it ended. */
function requestPairs({ status, summary, question, decision }: Fields): MaybePairs {
  return [
    ['Status', textOf(status)],
    ['Asked', textOf(question) ?? textOf(summary)],
    ['Decision', textOf(decision)],
  ];
}

function mailPairs({ from, subject }: Fields): MaybePairs {
  return [
    ['From', mailboxText(from)],
    ['Subject', textOf(subject)],
  ];
}

/** The records that GitHub's events are about, the most specific first. */
const SUBJECTS = [
  'pull_request',
  'issue',
  'release',
  'discussion',
  'workflow_run',
  'check_run',
  'deployment',
  'head_commit',
];

function githubPairs(payload: Fields): MaybePairs {
  const subject = SUBJECTS.map((name) => payload[name]).find(isObject) ?? {};
  const number = subject['number'] ?? payload['number'];
  const { title, name, message } = subject;
  const comment = isObject(payload['comment']) ? payload['comment']['body'] : undefined;
  return [
    ['Repository', textIn(payload['repository'], 'full_name')],
    ['Action', textOf(payload['action'])],
    ['Number', number === undefined ? null : `#${plainText(number)}`],
    ['Branch', textOf(payload['ref'])?.replace(/^refs\/(?:heads|tags)\//, '') ?? null],
    ['Title', textOf(title ?? name ?? message)],
    ['Comment', textOf(comment)],
    ['Sender', textIn(payload['sender'], 'login')],
  ];
}

function stripePairs({ type, data, livemode }: Fields): MaybePairs {
  const object = isObject(data) && isObject(data['object']) ? data['object'] : {};
  const { customer, customer_email: email, status } = object;
  return [
    ['Type', textOf(type)],
    ['Amount', amountText(object)],
    ['Customer', textOf(email) ?? textOf(customer) ?? textIn(customer, 'id')],
    ['Status', textOf(status)],
    ['Object', textOf(object['id'])],
    ['Mode', livemode === false ? 'test' : null],
  ];
}

const AMOUNTS = ['amount_paid', 'amount_total', 'amount', 'amount_due'];

/** Currencies that Stripe counts in whole units, and in thousandths. */
const WHOLE = new Set('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' '));
const THREE_DIGITS = new Set(['BHD', 'JOD', 'KWD', 'OMR', 'TND']);

/** Stripe counts in a currency's smallest unit: 4900 is `49.00 EUR`, or `4900 JPY`. */
function amountText(object: Fields): string | null {
  const amount = AMOUNTS.map((name) => object[name]).find((value) => Number(value) > 0);
  const code = textOf(object['currency'])?.toUpperCase() ?? '';
  if (amount === undefined || !/^[A-Z]{3}$/.test(code)) return null;
  const digits = WHOLE.has(code) ? 0 : THREE_DIGITS.has(code) ? 3 : 2;
  return `${(Number(amount) / 10 ** digits).toFixed(digits)} ${code}`;
}

/** The first fields that hold one value. */
function otherPairs(payload: Fields): MaybePairs {
  return Object.entries(payload)
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    .slice(0, FIELDS_SHOWN)
    .map(([name, value]) => [name, plainText(value)]);
}

function plainText(value: unknown): string {
  return textOf(value) ?? stringifyExact(value) ?? '';
}

function textIn(value: unknown, name: string): string | null {
  return isObject(value) ? textOf(value[name]) : null;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
