const CODES = /^ERR_(?:TLS|SSL)_|^EPROTO$|CERT|UNABLE_TO_(?:GET|VERIFY)/;

/** Whether the error code means that the server doesn't speak TLS or isn't trusted. Nothing was sent then. */
export function isTlsRefusal(code: string): boolean {
  return CODES.test(code);
}

/** Refusals with another cause than an authority that nobody trusts. */
const REASONS: Readonly<Record<string, string>> = {
  ERR_TLS_CERT_ALTNAME_INVALID:
    'its certificate is for another name: check the address, or who answers there',
  CERT_HAS_EXPIRED: 'its certificate has expired: whoever runs the gateway must renew it',
  CERT_NOT_YET_VALID: "its certificate isn't valid yet: check this machine's clock",
  ERR_SSL_WRONG_VERSION_NUMBER: "what answers there doesn't speak TLS: check the port",
  ERR_SSL_PACKET_LENGTH_TOO_LONG: "what answers there doesn't speak TLS: check the port",
};

/** What is wrong and what helps, in half a sentence; null if it may be an authority that nobody trusts. */
export function tlsReason(code: string): string | null {
  return REASONS[code] ?? null;
}
