import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { plainEnvironment } from './children.ts';
import { BODY_BYTES, bodyParts, deliveryBody, FIRST_NUMBER, signature } from './delivery.ts';

/** Prints what a run came to as one line of JSON. Latencies are in microseconds. */
const REPORT = `
function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format('\\nJSON {"requests":%d,"us":%d,"bad":%d,"broken":%d,"p50":%d,"p99":%d}\\n',
    summary.requests, summary.duration, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50), latency:percentile(99)))
end
`;

/** What a run of the load generator came to. */
export interface Load {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface LoadOptions {
  readonly wrk: string;
  readonly url: string;
  readonly script: string;
  readonly connections: number;
  readonly seconds: number;
  /** Texts the script gets. */
  readonly args?: readonly string[];
}

/** Runs the load generator on one thread. Throws when an answer was not a success. */
export async function load(options: LoadOptions): Promise<Load> {
  const { wrk, url, script, connections, seconds, args = [] } = options;
  const output = await run(
    wrk,
    [
      '-t1',
      `-c${connections}`,
      `-d${seconds}s`,
      '--timeout',
      '10s',
      '-s',
      script,
      url,
      '--',
      ...args,
    ],
    (seconds + 30) * 1000,
  );
  const text = /^JSON (.*)$/m.exec(output)?.[1];
  if (text === undefined) throw new Error(`The load generator printed no result:\n${output}`);
  const result = JSON.parse(text) as Record<
    'requests' | 'us' | 'bad' | 'broken' | 'p50' | 'p99',
    number
  >;
  if (result.bad > 0 || result.broken > 0 || result.requests === 0) {
    throw new Error(`Not every answer was a success:\n${output}`);
  }
  return {
    perSecond: result.requests / (result.us / 1e6),
    p50Ms: result.p50 / 1000,
    p99Ms: result.p99 / 1000,
  };
}

function run(program: string, args: readonly string[], withinMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: plainEnvironment(),
      timeout: withinMs,
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${program} ended with ${code}:\n${output}`));
    });
  });
}

/** How many bodies are signed ahead; a run that needs more begins again with known bodies under new ids. */
const SIGNED_BODIES = 100_000;
/**
 * A script that posts deliveries signed with GitHub's scheme, each with a body and an id of its own. Takes the number of
 * the first body and a text that no other run has. With `paths` they go to one after another, else to that of the address.
 */
export function deliveryScript(
  folder: string,
  secret: string,
  paths: readonly string[] | null = null,
): string {
  mkdirSync(folder, { recursive: true });
  const signatures: string[] = [];
  for (let number = 0; number < SIGNED_BODIES; number += 1) {
    signatures.push(signature(secret, deliveryBody(number)).slice('sha256='.length));
  }
  const signaturesFile = join(folder, 'signatures.txt');
  writeFileSync(signaturesFile, signatures.join(''));
  const { before, after } = bodyParts();
  const pathsFile = join(folder, 'paths.txt');
  writeFileSync(pathsFile, (paths ?? []).join('\n'));
  const script = `
local file = io.open(${JSON.stringify(signaturesFile)}, 'rb')
local signatures = file:read('*a')
file:close()
local before, after = ${JSON.stringify(before)}, ${JSON.stringify(after)}
local number, run, head, count = 0, '', '', 0
local paths = {}
for line in io.lines(${JSON.stringify(pathsFile)}) do paths[#paths + 1] = line end
function init(args)
  number = tonumber(args[1])
  run = args[2]
  if #paths == 0 then paths[1] = wrk.path end
  head = ' HTTP/1.1\\r\\nHost: ' .. wrk.host .. ':' .. wrk.port ..
    '\\r\\nContent-Type: application/json\\r\\nUser-Agent: GitHub-Hookshot/bench\\r\\nX-GitHub-Event: pull_request' ..
    '\\r\\nContent-Length: ${BODY_BYTES}\\r\\n'
end
function request()
  local at = (number + count) % ${SIGNED_BODIES}
  count = count + 1
  return 'POST ' .. paths[count % #paths + 1] .. head .. 'X-GitHub-Delivery: ' .. run .. '-' .. count ..
    '\\r\\nX-Hub-Signature-256: sha256=' .. string.sub(signatures, at * 64 + 1, at * 64 + 64) ..
    '\\r\\n\\r\\n' .. before .. (${FIRST_NUMBER} + at) .. after
end
${REPORT}`;
  return written(folder, 'delivery.lua', script);
}

/**
 * A script that sends one request after another, each of which may hold a number of four digits below `numbers` in the place
 * of `{n}` in its path and its body.
 */
export function numberedScript(
  folder: string,
  name: string,
  request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    readonly numbers: number;
  },
): string {
  const headers = Object.entries(request.headers)
    .map(([key, value]) => `wrk.headers[${JSON.stringify(key)}] = ${JSON.stringify(value)}`)
    .join('\n');
  const script = `${headers}
local count = 0
function request()
  count = (count + 7919) % ${request.numbers}
  local number = string.format('%04d', count)
  local path = string.gsub(${JSON.stringify(request.path)}, '{n}', number)
  local body = string.gsub(${JSON.stringify(request.body)}, '{n}', number)
  return wrk.format(${JSON.stringify(request.method)}, path, nil, body)
end
${REPORT}`;
  return written(folder, `${name}.lua`, script);
}

/** A script that sends the same request again and again. */
export function sameRequestScript(
  folder: string,
  name: string,
  request: { method: string; headers: Record<string, string>; body?: string },
): string {
  const headers = Object.entries(request.headers)
    .map(([key, value]) => `wrk.headers[${JSON.stringify(key)}] = ${JSON.stringify(value)}`)
    .join('\n');
  const body = request.body === undefined ? '' : `wrk.body = ${JSON.stringify(request.body)}\n`;
  const script = `wrk.method = ${JSON.stringify(request.method)}\n${headers}\n${body}${REPORT}`;
  return written(folder, `${name}.lua`, script);
}

/** A script that claims the events of a file, one after another, and acks each once its claim is answered. */
export function claimScript(folder: string, apiKey: string, eventIds: readonly string[]): string {
  mkdirSync(folder, { recursive: true });
  const idsFile = join(folder, 'ids.txt');
  writeFileSync(idsFile, eventIds.join('\n'));
  const script = `
local ids, at, acks, last = {}, 0, {}, 0
local head = ''
function init(args)
  local skip, line_number = tonumber(args[1]), 0
  for line in io.lines(${JSON.stringify(idsFile)}) do
    line_number = line_number + 1
    if line_number > skip then ids[#ids + 1] = line end
  end
  head = ' HTTP/1.1\\r\\nHost: ' .. wrk.host .. ':' .. wrk.port ..
    '\\r\\nContent-Type: application/json\\r\\nAuthorization: Bearer ${apiKey}\\r\\nContent-Length: '
end
local function post(path, body)
  return 'POST ' .. path .. head .. #body .. '\\r\\n\\r\\n' .. body
end
function request()
  if last > 0 then
    local id = acks[last]
    last = last - 1
    return post('/v1/inbox/ack', '{"event_id":"' .. id .. '"}')
  end
  at = at + 1
  return post('/v1/inbox/claim', '{"event_id":"' .. ids[at] .. '"}')
end
function response(status, headers, body)
  if string.find(body, '"lease_id"', 1, true) then
    last = last + 1
    acks[last] = string.match(body, '"id":"(evt_%w+)"')
  end
end
${REPORT}`;
  return written(folder, 'claim.lua', script);
}

function written(folder: string, name: string, script: string): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, name);
  writeFileSync(path, script);
  return path;
}
