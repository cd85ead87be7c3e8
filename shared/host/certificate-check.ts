const SETTING = 'NODE_TLS_REJECT_UNAUTHORIZED';

/**
 * Makes this process check every TLS certificate, even where Node's own variable turns the check off: svc sends keys
 * and mail. Call it before the first connection. `tell` gets a sentence if the variable was set to that.
 */
export function alwaysCheckCertificates(
  tell: (text: string) => void,
  env: NodeJS.ProcessEnv = process.env,
): void {
  if (env[SETTING] !== '0') return;
  delete env[SETTING];
  tell(
    `${SETTING} is ignored: svc always checks certificates. To trust a private authority, name its file in NODE_EXTRA_CA_CERTS.`,
  );
}
