import type { Carrier, Letter, Sent } from '../lib/approvals.ts';
import { isMailAddress } from '../../shared/rules/mail-address.ts';
import { askLetter, tellLetter, verifyLetter, type LetterText } from './letters.ts';
import { LOCAL_FROM } from './mail-config.ts';
import { later, orAgain, type Mailer } from './mailer.ts';

interface MailCarrierOptions {
  /** Base of the links to pages. */
  readonly publicUrl: string;
  /** Who writes; in local mode nobody who could be answered. */
  readonly from?: string;
}

/** Reaches people by email. */
export class MailCarrier implements Carrier {
  readonly #mailer: Mailer;
  readonly #base: string;
  readonly #from: string;

  constructor(mailer: Mailer, { publicUrl, from = LOCAL_FROM }: MailCarrierOptions) {
    this.#mailer = mailer;
    this.#base = publicUrl.replace(/\/+$/, '');
    this.#from = from;
  }

  async send(letter: Letter, to: { address: string; id: string }): Promise<Sent> {
    // What was mailed stays as it is: the page behind its link tells how the request ended.
    if (letter.kind === 'over') return { outcome: 'sent', messageId: null };
    if (!isMailAddress(to.address)) {
      return { outcome: 'refused', reason: 'The channel has no plain email address.' };
    }
    try {
      const text = this.#textOf(letter);
      const mail = { id: to.id, from: this.#from, to: to.address, ...text };
      return orAgain(await this.#mailer.send(mail));
    } catch (error) {
      return later(`The mail could not be written (${error instanceof Error ? error.name : '?'}).`);
    }
  }

  #textOf(letter: Exclude<Letter, { kind: 'over' }>): LetterText {
    switch (letter.kind) {
      case 'ask':
        return askLetter(letter.opened, this.#link('a', letter.token));
      case 'tell':
        return tellLetter(letter.opened);
      case 'verify':
        return verifyLetter(letter.channel, this.#link('c', letter.token));
    }
  }

  #link(page: 'a' | 'c', token: string): string {
    return `${this.#base}/${page}/${encodeURIComponent(token)}`;
  }
}
