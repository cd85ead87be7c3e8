import type { Source } from '../../clients/typescript/generated/types.ts';
import { reachOf, setupOf, type NewSecret } from '../../shared/rules/inbox/source-setup.ts';
import { triggerLine } from '../samples/trigger-line.ts';
import type { Look } from './table.ts';
import { safeLine, wrapText } from './terminal-text.ts';

/** What its sender must know of a source. */
type SenderSource = Pick<
  Source,
  'name' | 'type' | 'verification' | 'url' | 'address' | 'signature_header'
>;

const WIDEST_TEXT = 96;

const NO_SECRET: NewSecret = { made: null, isGiven: false };

const same = (text: string): string => text;

/** A note names commands itself. */
const PLAIN: Look = {
  columns: WIDEST_TEXT,
  now: 0,
  bold: same,
  faint: same,
  green: same,
  red: same,
  yellow: same,
  blue: same,
  typed: same,
};

/** The same lines as notes, for a user whose answer goes into a pipe. */
export function setupNotes(source: SenderSource, secret: NewSecret): string[] {
  return setupLines(source, PLAIN, secret);
}

/** How to connect the sender of this source, with its real address, and its secret if it was just made. */
export function setupLines(source: SenderSource, look: Look, secret = NO_SECRET): string[] {
  const known = {
    type: source.type,
    verification: source.verification,
    url: source.url ?? '',
    address: source.address ?? '',
    signatureHeader: source.signature_header ?? '',
  };
  const { title, steps } = setupOf(known, secret);
  const rotate = `svc source rotate ${source.name} --secret -`;
  const commands = {
    at_once: `\n${rotate} --previous-valid-seconds 0`,
    with_grace: `\n${rotate}`,
  };
  const width = Math.min(look.columns, WIDEST_TEXT) - 5;
  // A command gets a line of its own, so that it can be copied.
  const paragraph = (text: string, indent: string): string[] => {
    const [prose = '', ...typed] = text.split('\n').map((line) => safeLine(look.typed(line)));
    const lines = wrapText(prose, width).map((line) => indent + line);
    return [...lines, ...typed.map((command) => `${indent || '  '}${command}`)];
  };
  return [
    look.bold(`${title}:`),
    ...steps.flatMap((step, at) => {
      const text = step.text + (step.rotate ? commands[step.rotate] : '');
      const [first = '', ...others] = paragraph(text, '     ');
      return [`  ${at + 1}. ${first.trimStart()}`, ...others];
    }),
    ...reachOf(known).flatMap(({ text, command }) => ['', ...paragraph(`${text}\n${command}`, '')]),
    '',
    'Try it now, without the sender:',
    `  ${safeLine(look.typed(triggerLine(source)))}`,
  ];
}
