import { askStatus } from '../../daemon/probe.ts';
import { isObject } from '../../shared/untyped.ts';
import { openInBrowser } from '../browser.ts';
import type { Client } from '../client.ts';
import type { CommandContext } from '../command.ts';
import { badAnswer } from '../errors.ts';
import { EXIT } from '../exit.ts';
import { switchOption } from '../input/option-values.ts';
import { gatewayClient } from '../signin/gateway-client.ts';

/** `svc open`: the web inbox, in the browser or as an address. */
export async function run(context: CommandContext): Promise<number> {
  const { args, env, output, signal } = context;
  const page = pageOf(args['page']);
  const client = await clientOf(context);
  const body = { ...(page !== undefined && { page }) };
  const answer = await client.call('POST', '/v1/ui/links', { body, signal });
  const { url, expires_at } = isObject(answer) ? answer : {};
  if (typeof url !== 'string') throw badAnswer('The answer has no link.');
  const isWanted = !switchOption(context, 'print');
  const opened = isWanted && (await openInBrowser(url, env));
  if (output.json) output.answer({ url, expires_at, opened });
  else output.line(opened ? 'Opened in the browser.' : url);
  if (isWanted && !opened) output.note('No browser could be opened here: open the link yourself.');
  if (!opened) output.note('It works for 60 seconds, once: whoever opens it acts as your key.');
  return EXIT.done;
}

/** The id of a request leads to its page. */
function pageOf(text: string | readonly string[] | undefined): string | undefined {
  if (typeof text !== 'string') return undefined;
  return text.startsWith('req_') ? `requests/${text}` : text;
}

/** A daemon with the project of a gateway has no pages of its own. */
async function clientOf(context: CommandContext): Promise<Client> {
  const client = context.client();
  if (client.gateway !== null) return client;
  const status = await askStatus(context.home.socketPath);
  const address = status?.gateway ?? null;
  return address === null ? client : gatewayClient(context, new URL(address), client.apiKey);
}
