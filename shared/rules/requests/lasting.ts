import { isoTime } from '../../lib/clock.ts';
import { parseExact } from '../../lib/json/exact-json.ts';
import { isObject } from '../../lib/guards.ts';
import { valueAt } from '../../lib/json/json-pointer.ts';
import { canonicalJson } from '../canonical-json.ts';
import { isPlainPath, isSurelyUnder } from '../policy/folder.ts';
import {
  resolutionOf,
  stoppedHint,
  type Choice,
  type RequestKind,
  type Resolution,
} from './request-state.ts';

/** How long an approval holds for calls like it, if a person says so. */
const ALLOWED_MS = 3_600_000;
/** How long all that a stopped thread asks is denied. */
const STOPPED_MS = 24 * ALLOWED_MS;

/** The parts of a request that say what else an answer to it may hold for. */
interface LastingRequest {
  readonly action: string | null;
  readonly amount: number | null;
  readonly risk: string | null;
  /** Canonical JSON. */
  readonly bind: string | null;
  readonly approvals: number;
  readonly thread: string | null;
}

/** Calls like one that was asked. */
interface LikeCalls {
  /** As a person reads it, such as `this very command`. The names in it are the agent's. */
  readonly words: string;
  /** Whether a call with this input of the same tool is one of them. */
  readonly covers: (input: unknown) => boolean;
}

/** A tool of a coding agent. */
const TOOL = /^tool\.([\w.:/@-]{1,150})$/;

/**
 * The calls that an approval for an hour covers, all of the same tool in the same thread and with the same risk; null if
 * it can cover none. A shell does anything, so its input must be the same; an edit must be in the same folder.
 */
export function likeCalls(asked: LastingRequest): LikeCalls | null {
  const { action, amount, risk, bind, approvals, thread } = asked;
  const [, tool] = TOOL.exec(action ?? '') ?? [];
  const isPlain = amount === null && approvals === 1 && (risk === 'low' || risk === 'medium');
  if (tool === undefined || bind === null || thread === null || !isPlain) return null;
  const input = parseExact(bind);
  const at = TOLD_APART_BY.find((one) => valueAt(input, one) !== undefined);
  if (at === COMMAND) return likeCommand(input);
  return at === undefined
    ? likeUses(tool, valueAt(input, '/server'))
    : likeEdits(tool, at, valueAt(input, at));
}

const COMMAND = '/command';
/** Where the inputs of shells and editors say what they do. */
const TOLD_APART_BY = [COMMAND, '/file_path', '/notebook_path'] as const;

function likeCommand(input: unknown): LikeCalls {
  const same = workOf(input);
  return { words: 'this very command', covers: (one) => workOf(one) === same };
}

/** The description is the agent's remark, which changes nothing. */
function workOf(input: unknown): string {
  const { description: _remark, ...rest } = isObject(input) ? input : {};
  return canonicalJson(rest);
}

function likeEdits(tool: string, at: string, path: unknown): LikeCalls | null {
  const folder = typeof path === 'string' && isPlainPath(path) ? folderOf(path) : '';
  if (folder === '') return null;
  const covers = (input: unknown): boolean => {
    const other = valueAt(input, at);
    return typeof other === 'string' && isSurelyUnder(other, [folder]);
  };
  return { words: `${tool} of any file under ${folder}`, covers };
}

/** Empty for the root. */
function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

/** Tools of two servers may have the same name. */
function likeUses(tool: string, server: unknown): LikeCalls {
  const of = typeof server === 'string' ? ` of ${server}` : '';
  return {
    words: `every use of ${tool}${of}`,
    covers: (input) =>
      TOLD_APART_BY.every((one) => valueAt(input, one) === undefined) &&
      serverOf(input) === canonicalJson({ server }),
  };
}

function serverOf(input: unknown): string {
  return canonicalJson({ server: valueAt(input, '/server') });
}

/** How a choice ends a request, and until when the answer holds for others. */
export interface LastingResolution extends Resolution {
  readonly hint?: string;
  /** Unix time in milliseconds. */
  readonly lastsUntil?: number;
}

/** The result of a choice at `now`, or why it isn't possible, as a sentence. */
export function lastingResolution(
  request: LastingRequest & { readonly kind: RequestKind; readonly options: readonly string[] },
  choice: Choice,
  now: number,
): LastingResolution | { readonly problem: string } {
  const resolution = resolutionOf(request, choice);
  if ('problem' in resolution || !('lasts' in choice) || !choice.lasts) return resolution;
  if (choice.verb === 'deny') {
    if (request.thread === null) return { problem: 'This request belongs to no session.' };
    const lastsUntil = now + STOPPED_MS;
    return { ...resolution, lastsUntil, hint: stoppedHint(lastsUntil) };
  }
  const like = likeCalls(request);
  if (like === null) return { problem: 'This can’t be approved for more than once.' };
  const lastsUntil = now + ALLOWED_MS;
  const hint = `Approved in this session until ${isoTime(lastsUntil)}: ${like.words}.`;
  return { ...resolution, lastsUntil, hint };
}
