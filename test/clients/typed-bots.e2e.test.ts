import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/gateway.ts';
import { required } from '../helpers/require.ts';
import { documentedBots } from './documented-bots.ts';
import { pythonWithClient, run } from './python.ts';

/** Where `.ci/run` installed `test/clients/checkers/`. */
const CHECKERS = process.env['SVC_TYPE_CHECKERS'] ?? '';
const isHere = required(
  'the type checkers of Python',
  CHECKERS !== '',
  'set SVC_TYPE_CHECKERS to a folder as .ci/run makes it',
);

/** A bot with coroutines and a parser of its own. */
const ASYNC_BOT = `
import asyncio
from typing import Any

from svc_agents import AsyncContext, AsyncSvc, NotApproved, WorkEvent


async def review() -> str:
    return "fine"


async def bot(event: WorkEvent[int], ctx: AsyncContext) -> str:
    number = event["payload"] + 1
    details = await ctx.once("review", review)
    try:
        answer = await ctx.ask.approval("deploy", f"Deploy {number}", details=details)
    except NotApproved as no:
        return no.answer.status
    ctx.spend(answer)
    return await ctx.once("deploy", lambda: answer.request_id)


def number_of(payload: Any) -> int:
    return int(payload["number"])


asyncio.run(AsyncSvc().work({"type": "deploy.*"}, bot, payload=number_of, max=1))
`;

/** Casts what strangers sent, spends what nobody approved, and misspells. */
const WRONG_BOT = `
from svc_agents import Context, Denied, Svc, WorkEvent


def bot(event: WorkEvent[int], ctx: Context) -> int:
    ctx.spend(Denied("req_1", "denied"))
    return event["payload"]


Svc().work({}, bot)
Svc().work({}, bot, payload=str)
Svc().work({}, bot, payload=int, concurency=2)
`;

describe.runIf(isHere)('with mypy --strict and pyright', () => {
  const folder = temporaryFolder();
  const bots = join(folder.path, 'bots');
  let python: string;
  beforeAll(async () => {
    python = await pythonWithClient(folder.path);
    mkdirSync(bots);
  });
  afterAll(() => folder.remove());

  const mypy = (...args: string[]): Promise<string> =>
    run(join(CHECKERS, 'bin', 'mypy'), ['--strict', '--python-executable', python, ...args], {
      MYPY_CACHE_DIR: join(folder.path, 'cache'),
    });
  /** How many files pyright read. */
  const pyright = async (mode: string, path: string): Promise<number> => {
    const config = join(folder.path, `${mode}.json`);
    writeFileSync(config, JSON.stringify({ typeCheckingMode: mode, include: [path], exclude: [] }));
    const bin = join(CHECKERS, 'node_modules', 'pyright', 'index.js');
    const told = await run(process.execPath, [
      bin,
      '-p',
      config,
      '--pythonpath',
      python,
      '--outputjson',
    ]);
    return (JSON.parse(told) as { summary: { filesAnalyzed: number } }).summary.filesAnalyzed;
  };

  it('each bot of the pages is right, against the installed client', async () => {
    const all = [...documentedBots('python').map(({ text }) => text), ASYNC_BOT];
    expect(all.length).toBeGreaterThan(2);
    all.forEach((text, index) => writeFileSync(join(bots, `bot_${index}.py`), text));
    expect(await mypy(bots)).toContain('Success');
    expect(await pyright('strict', 'bots')).toBe(all.length);
  });

  it('the client itself is right', async () => {
    expect(await mypy('-p', 'svc_agents')).toContain('Success');
    cpSync('clients/python/src', join(folder.path, 'client'), { recursive: true });
    expect(await pyright('standard', 'client')).toBeGreaterThan(20);
  });

  it('a bot that casts what strangers sent is wrong', async () => {
    const path = join(folder.path, 'wrong.py');
    writeFileSync(path, WRONG_BOT);
    const told = String(await mypy(path).catch((error: unknown) => error));
    for (const line of [6, 10, 11, 12])
      expect(told).toMatch(new RegExp(`wrong\\.py:${line}: error`));
  });
});
