import type { WorkEvent } from './context.ts';
import { Permanent } from './parked.ts';

/**
 * A schema of any library that follows Standard Schema (https://standardschema.dev), such as zod, valibot and arktype:
 * the part of its interface that a worker uses.
 */
export interface PayloadSchema<P = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => ValidationResult<P> | Promise<ValidationResult<P>>;
    readonly types?: { readonly input: unknown; readonly output: P } | undefined;
  };
}

type ValidationResult<P> =
  | { readonly value: P; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

const SHOWN_ISSUES = 5;
const BEHIND_LINK =
  "It's over 256 KB, so it's behind `payload_url`, and not checked. Use a worker without a schema.";

/** What the schema makes of a payload. Throws `PayloadInvalid`, because the same bytes won't fit another time either. */
export async function checked(
  schema: PayloadSchema,
  { payload, payload_url: url }: WorkEvent,
): Promise<unknown> {
  if (payload === null && url) throw new PayloadInvalid([{ message: BEHIND_LINK }]);
  const result = await schema['~standard'].validate(payload);
  if (result.issues) throw new PayloadInvalid(result.issues);
  return result.value;
}

/** A payload isn't what the worker's schema says; the message names each place. Its event is dead at once. */
export class PayloadInvalid extends Permanent {
  override readonly name = 'PayloadInvalid';

  constructor(issues: readonly Issue[]) {
    const shown = issues.slice(0, SHOWN_ISSUES).map(({ message, path = [] }) => {
      const keys = path.map((key) => String(typeof key === 'object' ? key.key : key));
      return `${['payload', ...keys].join('.')}: ${message}`;
    });
    const more = issues.length - shown.length;
    super(
      [`The payload doesn't fit.`, ...shown, ...(more > 0 ? [`… ${more} more`] : [])].join('\n'),
    );
  }
}
