import type { CommandSpec, OptionSpec } from './command.ts';
import type { FieldShape, OperationShape } from './operation-shape.ts';

/** The command of an operation. */
export function operationSpec(shape: OperationShape, load: CommandSpec['load']): CommandSpec {
  return {
    words: shape.words,
    summary: shape.summary,
    description: shape.description,
    // Made when asked for: of all commands one is run.
    get args() {
      return shape.positional.map(({ name, required }) => {
        const field = shape.fields.find((one) => one.name === name);
        return { name, required, summary: field?.summary ?? '' };
      });
    },
    get options() {
      const positional = new Set(shape.positional.map(({ name }) => name));
      return shape.fields
        .filter(({ name }) => !positional.has(name))
        .map((field) => optionOf(field, shape.defaults[field.name]));
    },
    examples: shape.examples,
    load,
  };
}

function optionOf(field: FieldShape, filledIn: string | undefined): OptionSpec {
  const choices = field.type === 'boolean' ? ['true', 'false'] : field.choices;
  const standard = filledIn ?? field.default;
  const remarks = [
    ...(field.required && filledIn === undefined ? ['required'] : []),
    ...(standard === undefined ? [] : [`default ${String(standard)}`]),
    ...(field.text ? ['text, @file or -'] : []),
    ...(field.type === 'json' ? ['JSON, @file or -'] : []),
  ];
  const remark = remarks.length > 0 ? ` (${remarks.join('; ')})` : '';
  return {
    flag: flagOf(field).slice(2),
    value: valueName(field),
    summary: field.summary.replace(/\.$/, '') + remark,
    ...(choices && { choices }),
    ...(field.type === 'array' && { repeatable: true }),
  };
}

function valueName({ type, text }: FieldShape): string {
  switch (type) {
    case 'boolean':
      return '[true|false]';
    case 'integer':
    case 'number':
      return 'N';
    case 'json':
      return 'JSON';
    case 'array':
      return 'A,B,…';
    case 'string':
      return text ? 'TEXT' : 'VALUE';
  }
}

/** `lease_seconds` is typed as `--lease-seconds`. */
export function flagOf({ name }: Pick<FieldShape, 'name'>): string {
  return `--${name.replaceAll('_', '-')}`;
}
