/** Headers with secret values, as written in a JSON line. */
const SECRET_HEADERS =
  /("(?:authorization|cookie|set-cookie|x-api-key|proxy-authorization)":)"(?:[^"\\]|\\.)*"/gi;
/** Keys, signing secrets, passwords, and addresses that are secrets themselves. */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/svc_live_[0-9A-Za-z]+/g, 'svc_live_[redacted]'],
  [/svc_refresh_[0-9A-Za-z]+/g, 'svc_refresh_[redacted]'],
  [/whsec_[0-9A-Za-z+/=_-]+/g, 'whsec_[redacted]'],
  [/\b(Bearer )[^\s"\\]+/gi, '$1[redacted]'],
  [/(\/[wacfus]\/)[0-9A-Za-z]{16,}/g, '$1[redacted]'],
  [/(\/ui\/(?:open|sign-in)\/)[0-9A-Za-z]+/g, '$1[redacted]'],
  // A token contains its project in clear, which isn't secret.
  [/\b([0-9a-hjkmnp-tv-z]{16})[0-9A-Za-z]{24}\b/g, '$1[redacted]'],
  [/(\/[lm]\/[0-9a-z]+\/[a-z]{3}_[0-9a-z]+\/\d+\/)[\w-]+/g, '$1[redacted]'],
  [/(\/d\/[0-9a-z]+\/)[\w/.-]+/g, '$1[redacted]'],
  [/(\b[a-z]{2,10}:\/\/)[^\s"\\/?#@]{1,512}@/gi, '$1[redacted]@'],
  [/\bbot\d{6,20}:[\w-]{20,}/g, 'bot[redacted]'],
  [/\b\d{6,20}:[A-Za-z0-9_-]{30,}/g, '[redacted]'],
];

/** Removes secrets anywhere in a finished log line. */
export function redact(line: string): string {
  return SECRETS.reduce(
    (text, [pattern, shown]) => text.replace(pattern, shown),
    line.replace(SECRET_HEADERS, '$1"[redacted]"'),
  );
}
