import { messageOf } from '../../../clients/typescript/core/errors.ts';
import { parseExact } from '../../../shared/lib/json/exact-json.ts';
import { isObject } from '../../../shared/lib/guards.ts';
import type { CommandContext, Declaration } from '../../command.ts';
import { EXIT } from '../../exit.ts';
import type { Client } from '../../call/client.ts';
import { HOOK_CLIENTS, type HookClientName } from '../../hooks/clients.ts';
import { decide } from '../../hooks/decide.ts';
import { OpenPrompt } from '../../hooks/open-prompt.ts';
import { chosenHookClient, hookArgument, typedWait, WAIT_OPTION } from '../../hooks/options.ts';
import { questionAbout } from '../../hooks/question.ts';
import { undecided, type Verdict } from '../../hooks/tool-call.ts';
import { StandardInput } from '../../input/values.ts';
import { switchOption, textOption } from '../../input/option-values.ts';
import { profileClient } from '../../call/profile-client.ts';

export const declaration: Declaration = {
  summary: "Answer a coding agent's permission prompt: what its hook calls.",
  description:
    "Reads the client's JSON from standard input, asks the policy and else your people, and prints the client's own answer. The action is `tool.` and the tool's name; the bound values are the tool's input. Without an answer the client's own prompt decides: svc never says yes by itself. If the prompt is answered on the screen first, the question is withdrawn.",
  args: [hookArgument],
  options: [
    WAIT_OPTION,
    {
      flag: 'own-key',
      summary:
        'Use an API key of the hook alone, as svc hook install does; the first prompt makes it. SVC_API_KEY comes first.',
    },
  ],
  examples: ['hook run claude-code < prompt.json', 'hook run codex --wait 2m < prompt.json'],
  seeAlso: ['hook install', 'policy test', 'request list'],
};

/** Always ends with 0: other codes mean other things to each client. */
export async function run(context: CommandContext): Promise<number> {
  const name = chosenHookClient(context);
  const client = HOOK_CLIENTS[name];
  const waitMs = typedWait(context) ?? client.waitSeconds * 1000;
  const prompt = new OpenPrompt(context.signal);
  try {
    const verdict = await verdictOn(context, name, { waitMs, prompt });
    const answer = verdict && !prompt.signal.aborted ? client.answer(verdict) : null;
    if (answer !== null) context.output.line(JSON.stringify(answer));
    return EXIT.done;
  } finally {
    prompt.release();
  }
}

/** Null for a prompt that isn't svc's business. */
async function verdictOn(
  context: CommandContext,
  name: HookClientName,
  { waitMs, prompt }: { readonly waitMs: number; readonly prompt: OpenPrompt },
): Promise<Verdict | null> {
  const { signal } = prompt;
  const client = HOOK_CLIENTS[name];
  const payload = await payloadOf(signal);
  if (payload === null) return undecided("svc couldn't read the client's question.");
  const call = client.read(payload);
  if (call === null) return null;
  prompt.follow(call);
  const question = questionAbout(call, client.title);
  if (typeof question === 'string') return undecided(`svc asked nobody. ${question}`);
  try {
    return await decide({ client: await clientOf(context, name), question, waitMs, signal });
  } catch (error) {
    return undecided(`svc couldn't ask anybody: ${messageOf(error)}`);
  }
}

/** Whoever asks: the hook's own key, or the one that was typed. */
async function clientOf(context: CommandContext, name: HookClientName): Promise<Client> {
  const profile = textOption(context, 'profile');
  if (profile !== undefined) return profileClient(context, profile);
  if (!switchOption(context, 'own-key')) return context.client();
  const [{ ownClient }, { hookHolder, HOOK_RIGHTS }] = await Promise.all([
    import('../../mcp/own-key.ts'),
    import('../../hooks/key.ts'),
  ]);
  return ownClient(context, hookHolder(name, null), HOOK_RIGHTS);
}

async function payloadOf(signal: AbortSignal): Promise<Record<string, unknown> | null> {
  try {
    const bytes = await new StandardInput(signal).read('<client>');
    const payload = parseExact(bytes.toString('utf8'));
    return isObject(payload) ? payload : null;
  } catch {
    return null;
  }
}
