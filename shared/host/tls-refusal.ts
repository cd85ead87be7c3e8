const CODES = /^ERR_(?:TLS|SSL)_|^EPROTO$|CERT|UNABLE_TO_(?:GET|VERIFY)/;

/** Whether the error code means that the server doesn't speak TLS or isn't trusted. Nothing was sent then. */
export function isTlsRefusal(code: string): boolean {
  return CODES.test(code);
}
