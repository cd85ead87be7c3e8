import * as z from 'zod';
import { ServiceError } from '../lib/errors.ts';
import { stringifyExact } from '../lib/json/exact-json.ts';
import {
  DISK_PREFIXES_MAX,
  FILE_PATH_MAX_BYTES,
  KV_KEY_MAX_BYTES,
  KV_VALUE_MAX_BYTES,
} from '../lib/limits.ts';
import { ONE_LINE } from '../lib/text.ts';
import { keyProblem, pathOf, pathProblem, prefixProblem } from '../rules/disk/disk-name.ts';

// Fields that several disk operations share.

const NOT_EMPTY = z.string().min(1, { abort: true });

/** A text that a rule checks. The limit in characters bounds the cost of the check. */
function bounded(base: z.ZodString, maxBytes: number, problem: (text: string) => string | null) {
  return base
    .max(maxBytes, { abort: true })
    .regex(ONE_LINE, { error: 'Control characters are not allowed.', abort: true })
    .superRefine((text, context) => {
      const message = problem(text);
      if (message !== null) context.issues.push({ code: 'custom', input: text, message });
    });
}

/** The name of something stored: it can't be empty. */
export function diskName(maxBytes: number, problem: (text: string) => string | null) {
  return bounded(NOT_EMPTY, maxBytes, problem);
}

export const kvKey = diskName(KV_KEY_MAX_BYTES, keyProblem).describe(
  'Up to 512 bytes, no control characters.',
);

/** A path or a `disk://` reference to it; parsed to the path. */
export const filePath = diskName(FILE_PATH_MAX_BYTES + 'disk://'.length, (text) =>
  pathProblem(pathOf(text)),
)
  .transform(pathOf)
  .describe('Such as `a/b.pdf` or `disk://a/b.pdf`.');

/** A prefix of keys or paths; it may end within a segment. */
export function prefixField(what: string) {
  return bounded(z.string(), KV_KEY_MAX_BYTES, prefixProblem)
    .default('')
    .describe(`Only ${what} that start with this.`);
}

/** What a key is limited to. */
export const diskPrefixes = z
  .array(diskName(KV_KEY_MAX_BYTES, prefixProblem))
  .min(1)
  .max(DISK_PREFIXES_MAX);

/** What must be there for a write to happen. */
export const writeCondition = {
  if_version: z
    .int()
    .min(0)
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('Write only if this is the current version; 0: only if nothing exists.'),
  if_exists: z.boolean().optional().describe('Write only if it exists, in any version.'),
};

/** What must be there for a deletion to happen. */
export const deleteCondition = {
  if_version: z
    .int()
    .min(1)
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('Delete only if this is the current version.'),
  if_exists: z.boolean().optional().describe("Refuse the call if it doesn't exist."),
};

/** Either condition, as a call gives it. */
export interface DiskCondition {
  readonly if_version?: number | undefined;
  readonly if_exists?: boolean | undefined;
}

/** Any JSON, parsed to its text. PAYLOAD_TOO_LARGE over 256 KB. */
export const jsonText = z
  .custom<unknown>((value) => value !== undefined, 'Expected a JSON value.')
  .transform((value) => textOf(value))
  .describe('Any JSON, up to 256 KB.');

function textOf(value: unknown): string {
  const text = stringifyExact(value);
  if (Buffer.byteLength(text) > KV_VALUE_MAX_BYTES) {
    throw new ServiceError('PAYLOAD_TOO_LARGE', { hint: 'At most 256 KB as JSON.' });
  }
  return text;
}

/** Throws PRECONDITION_FAILED with the current version unless the caller's condition holds. */
export function refuseOtherVersion(
  { if_version, if_exists }: DiskCondition,
  stored: {
    readonly version: number;
    readonly size_bytes: number;
    readonly updated_at: string;
  } | null,
): void {
  const isWanted = if_version === undefined || if_version === (stored?.version ?? 0);
  if (isWanted && (if_exists !== true || stored !== null)) return;
  const there = stored ? `Version ${stored.version} is there` : 'Nothing is there';
  const details = stored
    ? { version: stored.version, size_bytes: stored.size_bytes, updated_at: stored.updated_at }
    : { version: 0 };
  // Over MCP an agent sees only the hint, not the details.
  const hint = `${there} now: check whether your change still applies.`;
  throw new ServiceError('PRECONDITION_FAILED', { details, hint });
}
