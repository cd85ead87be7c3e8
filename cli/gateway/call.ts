import { resolve } from 'node:path';
import { readConfigFile } from '../../shared/host/config-file.ts';
import {
  defaultDataFolder,
  operatorSocketPath,
  SOCKET_PATH_MAX_BYTES,
} from '../../shared/host/gateway-data.ts';
import { errorCode } from '../../shared/lib/guards.ts';
import type { CommandContext } from '../command.ts';
import { answeredFailure } from '../../clients/typescript/core/errors.ts';
import { nodeTransport } from '../../clients/typescript/node/node-transport.ts';
import { badAnswer, CallError, lostAnswer, unreachable, usageError } from '../errors.ts';
import { textOption } from '../input/option-values.ts';

interface OperatorCall {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
}

const SILENCE_MS = 60_000;
/** Nothing listens there, or the socket doesn't exist. */
const NOBODY: readonly string[] = ['ENOENT', 'ECONNREFUSED', 'ENOTDIR'];
const NOT_ALLOWED: readonly string[] = ['EACCES', 'EPERM'];

/** Calls the gateway that runs on a local data folder, through its socket; returns the parsed answer. */
export async function callOperator(context: CommandContext, call: OperatorCall): Promise<unknown> {
  const folder = dataFolderOf(context);
  const socketPath = operatorSocketPath(folder);
  const bytes = Buffer.byteLength(socketPath);
  if (bytes > SOCKET_PATH_MAX_BYTES) {
    throw unreachable(
      `The path ${socketPath} is too long for a socket (${bytes} bytes; the limit is ${SOCKET_PATH_MAX_BYTES}).`,
      'Start the gateway with a shorter SVC_DATA, such as a symbolic link to the folder, and name that one here.',
    );
  }
  const { status, text } = await send(socketPath, call, context.signal).catch((error: unknown) => {
    throw context.signal.aborted ? error : asFailure(error, { folder, socketPath });
  });
  const answer = parsed(text);
  if (status < 200 || status > 299) throw new CallError(answeredFailure(status, answer));
  if (answer === undefined) throw badAnswer("The answer isn't JSON.");
  return answer;
}

/** Resolves the data folder as the gateway does: the command line, then the environment, then the settings file. */
export function dataFolderOf(context: CommandContext): string {
  const typed = textOption(context, 'data');
  if (typed !== undefined) return resolve(typed);
  const path = textOption(context, 'config') ?? (context.env['SVC_CONFIG'] || null);
  const problems: string[] = [];
  const file = path === null ? {} : readConfigFile(path, (problem) => problems.push(problem));
  const env = { ...file, ...context.env };
  const [problem] = problems;
  if (problem !== undefined) throw usageError(problem, 'Or name the data folder: --data FOLDER');
  return resolve(env['SVC_DATA'] || defaultDataFolder(env));
}

async function send(
  socketPath: string,
  { method, path, body }: OperatorCall,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly text: string }> {
  const { status, text } = await nodeTransport(socketPath)({
    method,
    path,
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal,
    timeoutMs: SILENCE_MS,
  });
  return { status, text: await text() };
}

function asFailure(
  error: unknown,
  { folder, socketPath }: { readonly folder: string; readonly socketPath: string },
): unknown {
  const code = errorCode(error) ?? '';
  if (NOBODY.includes(code)) {
    return unreachable(
      `No gateway runs with the data in ${folder}.`,
      'Start it (svc gateway), or name its folder: --data FOLDER. These commands need a running gateway.',
    );
  }
  if (NOT_ALLOWED.includes(code)) {
    return unreachable(
      `This user isn't allowed to open ${socketPath}.`,
      "Run the command as the gateway's user: sudo -u USER svc gateway project …",
    );
  }
  const isLate = error instanceof Error && error.name === 'TimeoutError';
  if (!isLate && code === '') return error;
  const what = isLate
    ? `No answer within ${SILENCE_MS / 1000} s.`
    : `The connection to the gateway broke (${code}).`;
  return lostAnswer(what, 'Check the current state: svc gateway project list');
}

/** Undefined if the text isn't JSON. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}
