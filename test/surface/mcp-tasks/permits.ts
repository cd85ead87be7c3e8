/** A JSON Schema as the list of tools has it. */
export interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
}

/**
 * Why an agent can't know that this value is right, or null. `listed`: the schema must show it. `own`: the schema must
 * leave it to the agent, which it doesn't for ids and choices.
 */
export function permits(schema: Schema, value: unknown, kind: 'listed' | 'own'): string | null {
  const kinds = alternatives(schema);
  const isPermitted = kinds.some((one) =>
    kind === 'listed' ? lists(one, value) : isFree(one, value),
  );
  if (isPermitted) return null;
  return kind === 'listed'
    ? `the schema doesn't list ${JSON.stringify(value)}`
    : `the schema leaves no room for ${JSON.stringify(value)}`;
}

/** A choice between schemas as its parts, each with the description of the whole. */
function alternatives({ anyOf, ...rest }: Schema): Schema[] {
  return anyOf ? anyOf.map((one) => ({ ...rest, ...one })) : [rest];
}

function lists(schema: Schema, value: unknown): boolean {
  if (schema.type === 'boolean') return typeof value === 'boolean';
  const { enum: choices = [], default: usual, minimum, maximum, description = '' } = schema;
  return (
    [...choices, usual, minimum, maximum].includes(value) || description.includes(String(value))
  );
}

function isFree(
  { type, enum: choices, pattern, description = '' }: Schema,
  value: unknown,
): boolean {
  if (choices !== undefined) return false;
  if (pattern === undefined) return type === undefined || typeof value === kindOf(type);
  // A form must be shown by an example.
  const form = new RegExp(pattern);
  return (
    form.test(String(value)) && description.split(/[\s`(),.]+/).some((word) => form.test(word))
  );
}

function kindOf(type: string): string {
  if (type === 'integer') return 'number';
  return type === 'array' ? 'object' : type;
}
