const MESSAGE_ID = /^<[!-;=?-~]{1,300}>$/;

/** Whether a text is one Message-ID in angle brackets: printable ASCII, nothing that a header could read as more. */
export function isMessageId(text: string): boolean {
  return MESSAGE_ID.test(text);
}
