import { answerSchema, type Document, type Schema } from '../../cli/shapes/client-files.ts';
import { jsonSchema } from '../../shared/api/fields.ts';
import { pascal } from '../../shared/api/openapi/schemas.ts';
import type { Operation } from '../../shared/kernel/operation.ts';
import { operations } from '../../shared/operations/index.ts';
import { blockingFiles, FOLDER } from './blocking-python.ts';
import { openApiText } from './files.ts';

const HEAD = '# Written by `npm run surface` from the operations. Do not edit.\n';
/** Groups with methods of their own: each client declares them. */
const BY_HAND = new Set(['inbox', 'ask', 'request', 'kv', 'file']);
/** What a client makes of an answer. */
const ANSWERS: Readonly<Record<string, string>> = {
  ask_approval: 'Approved',
  ask_human: 'Answered',
};
const REFERENCE = '#/components/schemas/';
const RESERVED = new Set(
  'and as assert async await def del from global if in is or pass'.split(' '),
);

/** The files of the Python client that follow from the operations, by path. */
export function pythonFiles(): Map<string, string> {
  const types = new Types(JSON.parse(openApiText()) as Document);
  const methods = api(types);
  return new Map([
    [`${FOLDER}/operations.py`, tableText()],
    [`${FOLDER}/async_api.py`, methods],
    ...blockingFiles(methods),
    [`${FOLDER}/types.py`, types.text()],
  ]);
}

/** Types as Python writes them; declares a TypedDict for each object on the way. */
class Types {
  readonly #document: Document;
  readonly #declared = new Map<string, string>();

  constructor(document: Document) {
    this.#document = document;
  }

  text(): string {
    return `${HEAD}"""What the operations take and answer. A newer server may answer more fields and values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Generic, List, Optional, TypedDict, TypeVar, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired

P = TypeVar("P")

${[...this.#declared].map(([name, text]) => (name === 'ClaimedEvent' ? withPayload(text) : text)).join('\n')}`;
  }

  answer(operation: Operation): string {
    return this.of(answerSchema(this.#document, operation), `${pascal(operation.name)}Answer`);
  }

  /** The type of the items of a list's answer. */
  item(operation: Operation): string {
    const answer = this.#declared.get(this.answer(operation)) ?? '';
    return /^ {4}items: List\[(.*)\]$/m.exec(answer)?.[1] ?? 'Any';
  }

  /** The type of a schema. An object without a name gets this one. */
  of(schema: Schema, name: string): string {
    const { $ref, const: only, enum: values, type } = schema;
    if ($ref !== undefined) return this.#named($ref.slice(REFERENCE.length));
    const either = schema.anyOf ?? schema.oneOf ?? schema.allOf;
    if (either) return union(either.map((one) => this.of(one, name)));
    if (only !== undefined || values) {
      return union((values ?? [only]).map((one) => plainType(typeof one)));
    }
    if (typeof type !== 'object') return this.#single(schema, name);
    return union(type.map((one) => this.#single({ ...schema, type: one }, name)));
  }

  #single(schema: Schema, name: string): string {
    if (schema.type === 'array') return `List[${this.of(schema.items ?? {}, `${name}Item`)}]`;
    if (schema.type === 'object') return this.#object(schema, name);
    return plainType(String(schema.type));
  }

  #named(name: string): string {
    if (this.#declared.has(name)) return name;
    const schema = this.#document.components.schemas[name] ?? {};
    if (schema.properties) return this.#object(schema, name);
    return this.of(schema, name);
  }

  #object({ properties, required = [], additionalProperties, description }: Schema, name: string) {
    const fields = Object.entries(properties ?? {});
    if (fields.length === 0) {
      const isTyped = typeof additionalProperties === 'object';
      return `Dict[str, ${isTyped ? this.of(additionalProperties, `${name}Value`) : 'Any'}]`;
    }
    // A name first, for a type that contains itself.
    this.#declared.set(name, '');
    const lines = fields.map(([field, schema]) => {
      const type = this.of(schema, name + pascal(field));
      const comment = commentOf(schema);
      return `${comment}    ${field}: ${required.includes(field) ? type : `NotRequired[${type}]`}\n`;
    });
    this.#declared.delete(name);
    const told = description === undefined ? '' : `    """${description}"""\n\n`;
    const isClass = fields.every(([field]) => !RESERVED.has(field));
    const text = isClass
      ? `class ${name}(TypedDict):\n${told}${lines.join('')}`
      : `${name} = TypedDict("${name}", {\n${lines.map(asItem).join('')}})\n`;
    this.#declared.set(name, `\n${text}`);
    return name;
  }
}

/** Adds the event of a worker that parses payloads. When Python 3.9 runs, it knows no generic TypedDict. */
function withPayload(text: string): string {
  const payload = / {4}#: .*\n {4}payload: Any\n/.exec(text)?.[0] ?? '';
  const fields = text.replace(payload, '').replace('class ClaimedEvent', 'class _ClaimedEvent');
  return `${fields}

class ClaimedEvent(_ClaimedEvent):
    """An event with its lease."""

${payload}

if TYPE_CHECKING:

    class WorkEvent(_ClaimedEvent, Generic[P]):
        """An event with its lease, and with the payload as the worker parsed it."""

        payload: P

else:
    WorkEvent = dict
`;
}

/** A field of a TypedDict that can't be a class, because a field's name is a word of Python. */
function asItem(line: string): string {
  return line.replace(/^ {4}(\w+): (.*)$/m, '    "$1": "$2",');
}

function commentOf({ description, enum: values }: Schema): string {
  const known = values?.filter((one) => typeof one === 'string').join(', ');
  const told = [description, known && `One of: ${known}.`].filter(Boolean).join(' ');
  return told === '' ? '' : `    #: ${told}\n`;
}

function plainType(type: string): string {
  switch (type) {
    case 'string':
      return 'str';
    case 'integer':
      return 'int';
    case 'number':
      return 'float';
    case 'boolean':
      return 'bool';
    case 'null':
      return 'None';
    default:
      return 'Any';
  }
}

function union(types: readonly string[]): string {
  const all = [...new Set(types)];
  const some = all.filter((type) => type !== 'None');
  if (some.includes('Any') || some.length === 0) return 'Any';
  const one = some.length === 1 ? (some[0] ?? 'Any') : `Union[${some.join(', ')}]`;
  return all.length > some.length ? `Optional[${one}]` : one;
}

/** Where each operation is called, and where its fields go. */
function tableText(): string {
  const rows = operations.map((operation) => {
    const { name, rest, effect } = operation;
    const inPath = [...rest.path.matchAll(/\{(\w+)\+?\}/g)].map(([, one = '']) => one);
    const path = inPath.reduce(
      (text, one) =>
        text.replace(new RegExp(`\\{${one}(\\+?)\\}`), `{${rest.params?.[one] ?? one}$1}`),
      rest.path,
    );
    const [seconds, most] = waitOf(operation);
    return `    "${name}": Operation(${[
      `"${rest.method}"`,
      `"${path}"`,
      ...(effect === 'write' ? ['is_write=True'] : []),
      ...(rest.body ? [`body_field="${rest.body.field}"`] : []),
      ...(rest.body?.objectType ? [`object_type="${rest.body.objectType}"`] : []),
      ...(seconds === '' ? [] : [`seconds_field="${seconds}"`, `seconds_default=${most}`]),
    ].join(', ')}),\n`;
  });
  return `${HEAD}from __future__ import annotations

from typing import Dict

from .._operation import Operation

OPERATIONS: Dict[str, Operation] = {
${rows.join('')}}
`;
}

function waitOf(operation: Operation): [string, number] {
  const fields = propertiesOf(operation);
  for (const name of ['timeout_seconds', 'wait_seconds']) {
    const seconds = fields[name]?.default;
    if (typeof seconds === 'number') return [name, seconds];
  }
  return ['', 0];
}

function propertiesOf({ input }: Operation): Readonly<Record<string, Schema>> {
  return (jsonSchema(input, 'input') as Schema).properties ?? {};
}

function api(types: Types): string {
  const groups = new Map<string, string[]>();
  for (const operation of operations) {
    const noun = /^([a-z]+)_/.exec(operation.name)?.[1] ?? '';
    const verb = noun === '' ? operation.name : operation.name.slice(noun.length + 1);
    groups.set(noun, [...(groups.get(noun) ?? []), methodText(types, operation, verb)]);
  }
  const own = groups.get('') ?? [];
  groups.delete('');
  const classes = [...groups].map(
    ([noun, methods]) => `\nclass ${pascal(noun)}(AsyncGroup):\n${methods.join('\n')}`,
  );
  const plain = [...groups.keys()].filter((noun) => !BY_HAND.has(noun));
  const names = plain.map((noun) => `    ${noun}: ${pascal(noun)}\n`);
  return `${HEAD}"""A method for each operation, as a coroutine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence

from .._async_group import AsyncGroup, AsyncPages
from .._operation import UNSET, CallOptions
from ..answers import Answered, Approved
from . import types as t

if TYPE_CHECKING:
    from typing_extensions import Unpack

${classes.join('\n')}

class Methods(AsyncGroup):
${names.join('')}
${own.join('\n')}`;
}

function methodText(types: Types, operation: Operation, verb: string): string {
  const { name, summary, description, cli, rest } = operation;
  const fields = Object.entries(propertiesOf(operation)).filter(
    // A file's text is encoded by whoever saves it.
    ([field]) => !(rest.body?.as === 'bytes' && field === 'content'),
  );
  const required = (jsonSchema(operation.input, 'input') as Schema).required ?? [];
  const first = [...cli.usage.matchAll(/[<[](\w+)[>\]]/g)].map(([, field = '']) => field);
  const isFirst = ([field]: readonly [string, Schema]): boolean => first.includes(field);
  const params = (some: readonly (readonly [string, Schema])[]): string[] =>
    some.map(([field, schema]) => {
      const type = inputType(types, operation, field, schema);
      const isNeeded = required.includes(field) || (isFirst([field, schema]) && type === 'Any');
      if (isNeeded) return `${pythonName(field)}: ${type}`;
      return type === 'Any' || type === 'bytes'
        ? `${pythonName(field)}: ${type} = UNSET`
        : `${pythonName(field)}: Optional[${type}] = None`;
    });
  const inOrder = [
    ...first.flatMap((field) => fields.filter(([one]) => one === field)),
    ...fields.filter(([field]) => rest.body?.as === 'bytes' && field === rest.body.field),
  ];
  const named = fields.filter(([field]) => !inOrder.some(([one]) => one === field));
  const needed = named.filter(([field]) => required.includes(field));
  const free = named.filter(([field]) => !required.includes(field));
  const isBare = named.length > 0 ? ['*'] : [];
  const args = ['self', ...params(inOrder), ...isBare, ...params([...needed, ...free])];
  const result = types.answer(operation);
  const given = fields.map(([field]) => `"${field}": ${pythonName(field)}`).join(', ');
  const item = itemOf(types, operation);
  const plain = ANSWERS[name] ?? qualified(result);
  const returned = item === null ? plain : `AsyncPages[${qualified(item)}]`;
  const call = `self._${item === null ? 'call' : 'pages'}("${name}", {${given}}, call)`;
  const isCoroutine = item === null;
  return `    ${isCoroutine ? 'async ' : ''}def ${verb}(
${[...args, '**call: Unpack[CallOptions]'].map((arg) => `        ${arg},\n`).join('')}    ) -> ${returned}:
        """${summary}

        ${description.replaceAll('\\', '\\\\')}
        """
        answer: ${returned} = ${isCoroutine ? 'await ' : ''}${call}
        return answer
`;
}

/** The type of a field. A file's bytes need no encoding. */
function inputType(types: Types, { name, rest }: Operation, field: string, schema: Schema): string {
  if (rest.body?.as === 'bytes' && field === rest.body.field) return 'bytes';
  const type = types.of(schema, `${pascal(name)}${pascal(field)}`);
  return qualified(type.replace(/^List\[/, 'Sequence['));
}

/** The type of a list's items; null for any other answer. */
function itemOf(types: Types, operation: Operation): string | null {
  const output = jsonSchema(operation.output, 'output') as Schema;
  const isList = output.properties && 'next_cursor' in output.properties;
  if (!isList || !('cursor' in operation.input.shape) || operation.rest.method !== 'GET')
    return null;
  return types.item(operation);
}

/** The declared types are in a module of their own. */
function qualified(type: string): string {
  return type.replaceAll(/\b[A-Z]\w+/g, (word) =>
    ['Any', 'Dict', 'List', 'None', 'Optional', 'Sequence', 'Union'].includes(word)
      ? word
      : `t.${word}`,
  );
}

function pythonName(field: string): string {
  if (field === 'content_base64') return 'content';
  return RESERVED.has(field) ? `${field}_` : field;
}
