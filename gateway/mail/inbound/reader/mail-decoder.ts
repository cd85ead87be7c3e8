/** The labels for ASCII in mails. The Encoding Standard, and so the parser, reads them as windows-1252. */
const ASCII: ReadonlySet<string> = new Set(['us-ascii', 'ascii', 'ansi_x3.4-1968']);
/** Bytes 0x80 to 0x9f of windows-1252, which Node 20 decodes as controls. */
const HIGH_1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';
const CONTROLS = /[\u0080-\u009f]/g;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Replaces `TextDecoder` in the thread that reads mails. If a mail claims to be ASCII, its bytes are read as UTF-8 if they
 * are valid UTF-8: hardly any other text is valid UTF-8 by chance.
 */
export class MailDecoder extends TextDecoder {
  readonly #isAscii: boolean;

  constructor(...[label, options]: ConstructorParameters<typeof TextDecoder>) {
    super(label, options);
    this.#isAscii = ASCII.has((label ?? '').trim().toLowerCase());
  }

  override decode(
    ...[input, options]: Parameters<InstanceType<typeof TextDecoder>['decode']>
  ): string {
    const text = (this.#isAscii ? asUtf8(input) : null) ?? super.decode(input, options);
    if (this.encoding !== 'windows-1252') return text;
    return text.replaceAll(CONTROLS, (control) => HIGH_1252[control.charCodeAt(0) - 0x80] ?? '');
  }
}

/** Null if the bytes aren't UTF-8. */
function asUtf8(input: Parameters<typeof utf8.decode>[0]): string | null {
  try {
    return utf8.decode(input);
  } catch {
    return null;
  }
}
