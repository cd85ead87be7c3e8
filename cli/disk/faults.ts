import { errorCode } from '../../shared/lib/guards.ts';
import { FILE_MAX_BYTES } from '../../shared/lib/limits.ts';
import { CliError, usageError } from '../errors.ts';
import { EXIT } from '../exit.ts';
import { countText, sizeText } from '../view/sizes.ts';
import { pluralize, nounFor } from '../../shared/lib/pluralize.ts';

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'no permission',
  EDQUOT: 'your quota is used up',
  EEXIST: 'it already exists',
  EFBIG: 'the file is too large for the file system',
  EISDIR: 'it is a folder',
  ELOOP: 'it is a symbolic link',
  EMFILE: 'too many open files',
  ENAMETOOLONG: 'the name is too long',
  ENOENT: "it doesn't exist",
  ENOSPC: 'no room left',
  ENOTDIR: "part of the path isn't a folder",
  EPERM: 'not permitted',
  EROFS: 'the file system is read-only',
};

/** Turns a system error about a local file into a refusal that names the file; returns anything else unchanged. */
export function localFault(error: unknown, path: string, what = 'used'): unknown {
  const message = faultText(error, path, what);
  return message === null ? error : localRefusal(message);
}

/** The same for a file the user told svc to read, which makes it a usage error. */
export function unreadable(error: unknown, path: string): unknown {
  const message = faultText(error, path, 'read');
  return message === null ? error : usageError(message);
}

function faultText(error: unknown, path: string, what: string): string | null {
  const code = errorCode(error);
  if (error instanceof CliError || code === null || !/^E[A-Z0-9]+$/.test(code)) return null;
  const reason = Object.hasOwn(REASONS, code) ? `${REASONS[code] ?? ''}, ${code}` : code;
  return `"${path}" can't be ${what} (${reason}).`;
}

/** Turns system errors from work on a local file into refusals. */
export async function onFile<T>(path: string, what: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw localFault(error, path, what);
  }
}

/** A refusal because of a local file. */
export function localRefusal(message: string, hint: string | null = null): CliError {
  return new CliError({ code: 'LOCAL_FILE', message, hint, exit: EXIT.refused });
}

export function fileExists(path: string, hint: string | null): CliError {
  const message = `"${path}" already exists.`;
  return new CliError({ code: 'FILE_EXISTS', message, hint, exit: EXIT.refused });
}

export function fileChanged(path: string): CliError {
  return new CliError({
    code: 'FILE_CHANGED',
    message: `"${path}" changed while svc read it, so svc saved nothing.`,
    hint: 'Try again when nothing is writing to it.',
    exit: EXIT.refused,
  });
}

/** The file is over the limit; the size is null if it comes from a pipe. */
export function tooLarge(name: string, sizeBytes: number | null): CliError {
  const limit = `${sizeText(FILE_MAX_BYTES)} (${bytesText(FILE_MAX_BYTES)})`;
  const message =
    sizeBytes === null
      ? `${name} is larger than ${limit}, the limit for a file.`
      : `${name} is ${bytesText(sizeBytes)}; the limit for a file is ${limit}.`;
  const hint = 'Split or compress it.';
  return new CliError({ code: 'PAYLOAD_TOO_LARGE', message, hint, exit: EXIT.refused });
}

function bytesText(bytes: number): string {
  return `${countText(bytes)} ${nounFor(bytes, 'byte')}`;
}

/** The connection broke during a transfer, and nothing was saved. */
export function transferBroken(direction: 'upload' | 'download', reason: string): CliError {
  return new CliError({
    code: 'TRANSFER_BROKEN',
    message: `The ${direction} broke off: ${reason}.`,
    hint: 'No partial file was left. Run the same command again.',
    exit: EXIT.unreachable,
  });
}

interface FileDigest {
  readonly sizeBytes: number;
  readonly sha256: string | null;
}

/** The bytes aren't the expected ones. */
export function otherBytes(message: string, expected: FileDigest, found: FileDigest): CliError {
  return new CliError({
    code: 'DIGEST_MISMATCH',
    message,
    hint: 'Run the same command again. If it keeps happening, something on the network is changing the bytes.',
    details: { expected: toldOf(expected), found: toldOf(found) },
    exit: EXIT.refused,
  });
}

function toldOf({ sizeBytes, sha256 }: FileDigest): string {
  return `${pluralize(sizeBytes, 'byte')}, SHA-256 ${sha256 ?? 'unknown'}`;
}
