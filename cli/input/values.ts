import { readFileSync } from 'node:fs';
import { parseExact } from '../../shared/lib/json/exact-json.ts';
import { jsonFault } from '../../shared/lib/json/json-fault.ts';
import { usageError } from '../errors.ts';
import type { FieldShape } from '../call/operation-shape.ts';
import { flagOf } from '../call/operation-spec.ts';
import { oneUnit, secondsValue, timeValue } from './times.ts';

type OptionValue = string | boolean | readonly string[];

/** Parses a typed `flag` or `<argument>` into a field's value; refuses text of the wrong type. */
export async function fieldValue(
  field: FieldShape,
  given: OptionValue,
  stdin: StandardInput,
  flag = flagOf(field),
): Promise<unknown> {
  if (field.type === 'array') return field.span ? conditionsOf(given) : listOf(given);
  const text = typeof given === 'string' ? given : String(given);
  switch (field.type) {
    case 'integer':
    case 'number':
      if (field.wait) return secondsValue(text, flag);
      return numberOf(field.type, text, flag);
    case 'boolean':
      return text === 'true';
    case 'json':
      return jsonOf(text, flag, stdin);
    case 'string':
      return stringOf(field, text, flag, stdin);
  }
}

async function stringOf(
  field: FieldShape,
  text: string,
  flag: string,
  stdin: StandardInput,
): Promise<string> {
  if (field.time) return timeValue(text, flag, field.time);
  if (field.span) return oneUnit(text);
  return field.text ? textOf(text, flag, stdin) : text;
}

/** Values are separated by commas, and the flag may be repeated. */
export function listOf(given: OptionValue): string[] {
  const texts = typeof given === 'string' ? [given] : Array.isArray(given) ? given : [];
  return (texts as readonly string[])
    .flatMap((text) => text.split(','))
    .map((text) => text.trim())
    .filter((text) => text !== '');
}

/** What an event waits for, such as `req_…` or `+1d12h`. */
export function conditionsOf(given: OptionValue): string[] {
  return listOf(given).map((text) => (text.startsWith('+') ? `+${oneUnit(text.slice(1))}` : text));
}

function numberOf(type: 'integer' | 'number', text: string, flag: string): number {
  const pattern = type === 'integer' ? /^-?\d+$/ : /^-?\d+(\.\d+)?$/;
  const value = Number(text);
  const isWhole = type === 'integer' || !text.includes('.');
  if (pattern.test(text) && (!isWhole || Number.isSafeInteger(value))) return value;
  const wanted = type === 'integer' ? 'a whole number' : 'a number';
  const most = pattern.test(text) ? ` up to ${Number.MAX_SAFE_INTEGER}` : '';
  throw usageError(`${flag} must be ${wanted}${most}, not "${text}".`);
}

async function jsonOf(given: string, flag: string, stdin: StandardInput): Promise<unknown> {
  const outside = await fromOutside(given, flag, stdin);
  const text = outside ?? given;
  const before = flag.startsWith('--') ? `${flag} ` : '';
  try {
    return parseExact(text);
  } catch {
    if (text.trim() === '') {
      const what = isStdin(given)
        ? 'Standard input is'
        : outside === null
          ? 'It is'
          : 'The file is';
      throw usageError(`${flag} isn't JSON.`, `${what} empty. JSON for nothing: ${before}null`);
    }
    const place = jsonFault(text);
    throw usageError(
      `${flag} isn't JSON${place === null ? '' : `: it's wrong at ${place}`}.`,
      `Quote text: ${before}'"done"'. Or read a file: ${before}@result.json`,
    );
  }
}

/** `@@name` is the text `@name`. Drops a final newline, because editors add one that isn't part of a secret. */
async function textOf(given: string, flag: string, stdin: StandardInput): Promise<string> {
  const outside = await fromOutside(given, flag, stdin);
  if (outside !== null) return outside.replace(/\r?\n$/, '');
  return given.startsWith('@@') ? given.slice(1) : given;
}

/** `@-` as curl has it. */
function isStdin(given: string): boolean {
  return given === '-' || given === '@-';
}

async function fromOutside(
  given: string,
  flag: string,
  stdin: StandardInput,
): Promise<string | null> {
  if (isStdin(given)) return utf8(await stdin.read(flag), flag);
  if (!given.startsWith('@') || given.startsWith('@@')) return null;
  return utf8(fileBytes(given.slice(1), flag), flag);
}

/** The bytes from `@file`, `-` or the text itself. */
export async function bytesOf(given: string, flag: string, stdin: StandardInput): Promise<Buffer> {
  if (isStdin(given)) return stdin.read(flag);
  if (given.startsWith('@')) return fileBytes(given.slice(1), flag);
  return Buffer.from(given);
}

function fileBytes(path: string, flag: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    throw usageError(`${flag} can't read the file "${path}" (${reason}).`);
  }
}

function utf8(bytes: Buffer, flag: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw usageError(`${flag} isn't UTF-8 text.`);
  }
}

/** Standard input, which only one flag can use. */
export class StandardInput {
  readonly #stream: () => AsyncIterable<Uint8Array>;
  #takenBy: string | null = null;

  /** Aborting the signal makes a read fail. */
  constructor(signal: AbortSignal, stream?: () => AsyncIterable<Uint8Array>) {
    this.#stream = stream ?? (() => interruptible(signal));
  }

  async read(flag: string): Promise<Buffer> {
    if (this.#takenBy !== null) {
      throw usageError(`${flag} and ${this.#takenBy} can't both read standard input.`);
    }
    this.#takenBy = flag;
    const chunks: Uint8Array[] = [];
    for await (const chunk of this.#stream()) chunks.push(chunk);
    return Buffer.concat(chunks);
  }
}

/** Done by hand because loading node:stream for `addAbortSignal` costs every command a millisecond. */
function interruptible(signal: AbortSignal): AsyncIterable<Uint8Array> {
  const { stdin } = process;
  // Once everything is read nobody would catch the error.
  const end = () => {
    if (!stdin.readableEnded) stdin.destroy(new Error('Interrupted.'));
  };
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  return stdin;
}
