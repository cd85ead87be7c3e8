import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { required } from '../../helpers/require.ts';

const OPENSSL = 'openssl';

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** False where no certificates can be made. */
export function canCertify(): boolean {
  let present = true;
  try {
    execFileSync(OPENSSL, ['version'], { stdio: 'ignore' });
  } catch {
    present = false;
  }
  return required('callbacks over TLS', present, 'openssl is not installed');
}

/** A certificate that this name has signed for itself: trusted only by those who were given it. */
export function selfSigned(host: string): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'svc-certificate-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const name = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`];
  const files = ['-keyout', key, '-out', cert];
  try {
    execFileSync(OPENSSL, ['req', '-x509', ...curve, ...name, ...files], { stdio: 'ignore' });
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
