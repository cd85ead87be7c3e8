import { isObject } from '../../shared/untyped.ts';
import type { CommandContext, CommandModule } from '../command.ts';
import { CallError, CliError } from '../errors.ts';
import { EXIT } from '../exit.ts';
import { callOperation, exitOf, runOperation } from '../operation-command.ts';
import type { OperationShape } from '../operation-shape.ts';
import type { View } from '../view/output.ts';
import { askPeople } from './ask.ts';
import { channelAddedView, channelRemovedView } from './channel-view.ts';
import { ChannelNames } from './names.ts';
import { tellOutbox } from './outbox-hint.ts';
import { policyDiff, policySet, policyTest } from './policy.ts';
import { policyView } from './policy-view.ts';
import { channelsIn, requestView } from './request-view.ts';
import {
  attemptsView,
  routeAddedView,
  routeDisabledView,
  routeEnabledView,
  routeListView,
  routeRemovedView,
  routeRetriedView,
  routeTestedView,
} from './route-view.ts';
import { callbackSecretView } from './secret-view.ts';
import { warn } from '../view/warnings.ts';

/** Operations about people and routes that only have a view of their own. */
const VIEWS: Readonly<Record<string, (answer: unknown) => View>> = {
  channel_remove: channelRemovedView,
  policy_get: policyView,
  route_attempts: attemptsView,
  route_disable: routeDisabledView,
  route_enable: routeEnabledView,
  route_list: routeListView,
  route_remove: routeRemovedView,
  route_retry: routeRetriedView,
};

/** The command of an operation about people or routes. */
export function peopleCommand(shape: OperationShape): CommandModule {
  const viewOf = VIEWS[shape.name];
  if (viewOf) return { run: (context) => runOperation(shape, context, viewOf) };
  switch (shape.name) {
    case 'policy_set':
      return policySet(shape);
    case 'policy_test':
      return policyTest(shape);
    case 'policy_diff':
      return policyDiff(shape);
    case 'request_status':
      return { run: (context) => status(shape, context) };
    case 'channel_add':
      return { run: (context) => addChannel(shape, context) };
    case 'route_test':
      return { run: (context) => testRoute(shape, context) };
    case 'route_add':
      return { run: (context) => showSecret(shape, context, routeAddedView) };
    case 'request_callback_secret':
      return { run: (context) => showSecret(shape, context, callbackSecretView) };
    default:
      return askPeople(shape);
  }
}

async function status(shape: OperationShape, context: CommandContext): Promise<number> {
  const { output, signal } = context;
  const record = await callOperation(shape, context);
  const names = new ChannelNames(context.client(), signal);
  const known = output.json ? new Map() : await names.ofIds(channelsIn(record));
  output.answer(record, requestView(record, known));
  return exitOf(record);
}

async function addChannel(shape: OperationShape, context: CommandContext): Promise<number> {
  const answer = await callOperation(shape, context).catch((error: unknown) => {
    throw withoutBot(error, context);
  });
  context.output.answer(answer, channelAddedView(answer));
  const isMail = isObject(answer) && 'verification_sent_to' in answer;
  if (isMail) await tellOutbox(context, 'The mail');
  return EXIT.done;
}

const BOT_HINTS: Readonly<Record<string, string>> = {
  CHANNEL_KIND_UNAVAILABLE:
    'Make a bot with @BotFather, then: svc down && SVC_TELEGRAM_TOKEN=… svc up. Or use email.',
  UNAVAILABLE: "The Telegram bot isn't connected yet. See why with: svc status",
};

/** On one's own machine more can be said of the bot that is not there. */
function withoutBot(error: unknown, { args, client }: CommandContext): unknown {
  if (!(error instanceof CallError) || args['kind'] !== 'telegram' || client().gateway) {
    return error;
  }
  const { code, message, details, exit } = error;
  return new CliError({ code, message, hint: BOT_HINTS[code] ?? error.hint, details, exit });
}

/** A receiver that does not take the sample is a failure, for scripts too. */
async function testRoute(shape: OperationShape, context: CommandContext): Promise<number> {
  const answer = await callOperation(shape, context);
  context.output.answer(answer, routeTestedView(answer));
  return isObject(answer) && answer['delivered'] === false ? EXIT.refused : EXIT.done;
}

async function showSecret(
  shape: OperationShape,
  context: CommandContext,
  viewOf: (answer: unknown) => View,
): Promise<number> {
  const { options, output } = context;
  const answer = await callOperation(shape, context);
  output.answer(answer, viewOf(answer));
  warn(context, answer);
  // A person is told by the view.
  if (output.json && options['json'] !== true) {
    output.note('The secret is shown this once: store it where the receiver checks signatures.');
  }
  return EXIT.done;
}
