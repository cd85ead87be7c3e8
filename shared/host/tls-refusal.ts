const CODES = /^ERR_(?:TLS|SSL)_|^EPROTO$|CERT|UNABLE_TO_(?:GET|VERIFY)/;

/** Whether an error code says that the other side speaks no TLS, or isn't trusted: nothing was sent then. */
export function isTlsRefusal(code: string): boolean {
  return CODES.test(code);
}
