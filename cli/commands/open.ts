import { askStatus } from '../../daemon/probe.ts';
import { didYouMean } from '../../shared/lib/suggest.ts';
import { isObject } from '../../shared/lib/guards.ts';
import { openInBrowser } from '../browser.ts';
import type { Client } from '../call/client.ts';
import type { CommandContext, Declaration } from '../command.ts';
import { badAnswer, usageError } from '../errors.ts';
import { EXIT } from '../exit.ts';
import { switchOption, textArgument } from '../input/option-values.ts';
import { gatewayClient } from '../signin/gateway-client.ts';

/** Pages of the web inbox that `svc open` can show. */
export const WEB_PAGES = [
  'overview',
  'requests',
  'events',
  'disk',
  'mail',
  'outbox',
  'settings',
  'sources',
  'routes',
  'members',
  'channels',
  'browsers',
  'policy',
  'keys',
  'sessions',
  'ledger',
  'usage',
] as const;

export const declaration: Declaration = {
  summary: "Open the web inbox in a browser, signed in with this machine's key.",
  description:
    "Shows your agents' requests and everything else in the project that your key's scopes allow. A key can't decide requests: to decide, sign in there as the owner. The link works once, for 60 seconds. Without a desktop, svc prints it.",
  args: [
    {
      name: 'page',
      required: false,
      summary: 'A page, or an id such as evt_… or req_… (default: the first page)',
      choices: WEB_PAGES,
    },
  ],
  options: [{ flag: 'print', summary: 'Print the link instead of opening it' }],
  examples: ['open', 'open requests', 'open --print'],
  seeAlso: ['up', 'request watch', 'outbox open'],
};

/** Which page shows an id with this prefix. */
const PAGE_OF: Readonly<Record<string, (typeof WEB_PAGES)[number]>> = {
  req: 'requests',
  evt: 'events',
  thr: 'mail',
  bat: 'mail',
  rte: 'routes',
  chn: 'channels',
  key: 'keys',
};

/** `svc open`: opens the web inbox in a browser, or prints its address. */
export async function run(context: CommandContext): Promise<number> {
  const { env, output, signal } = context;
  const page = pageOf(textArgument(context, 'page'));
  const client = await clientOf(context);
  const body = { ...(page !== undefined && { page }) };
  const answer = await client.send('POST', '/v1/ui/links', { body, signal });
  const { url, expires_at } = isObject(answer) ? answer : {};
  if (typeof url !== 'string') throw badAnswer('The answer has no link.');
  const isWanted = !switchOption(context, 'print');
  const opened = isWanted && (await openInBrowser(url, env));
  if (output.json) output.answer({ url, expires_at, opened });
  else output.line(opened ? 'Opened in your browser.' : url);
  if (isWanted && !opened) output.note("svc couldn't open a browser here: open the link yourself.");
  if (!opened)
    output.note('It works once, for 60 seconds. Anyone who opens it acts with your key.');
  return EXIT.done;
}

/** An id leads to its page. Unknown pages are refused here, because their link would lead nowhere. */
function pageOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const [, prefix = ''] = /^([a-z]+)_/.exec(text) ?? [];
  const shownOn = Object.hasOwn(PAGE_OF, prefix) ? PAGE_OF[prefix] : undefined;
  if (shownOn !== undefined) return `${shownOn}/${text}`;
  const [name = '', ...rest] = text.split('/');
  if (WEB_PAGES.some((page) => page === name) && rest.length < 2) return text;
  throw usageError(
    `No page "${text}".${didYouMean(name, WEB_PAGES)}`,
    `Pages: ${WEB_PAGES.join(', ')}; or use an id shown there`,
  );
}

/** A daemon that replicates a gateway's project has no pages of its own. */
async function clientOf(context: CommandContext): Promise<Client> {
  const client = context.client();
  if (client.gateway !== null) return client;
  const status = await askStatus(context.home.socketPath);
  const address = status?.gateway ?? null;
  return address === null ? client : gatewayClient(context, new URL(address), client.apiKey);
}
