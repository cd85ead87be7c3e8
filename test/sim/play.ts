import * as inbox from './inbox-steps.ts';
import { look } from './look.ts';
import * as people from './people-steps.ts';
import * as routes from './route-steps.ts';
import * as service from './service-steps.ts';
import { same, Stage, type Pair, type StageOptions } from './stage.ts';
import type { Step, StepKind, Steps } from './steps.ts';
import type { Template } from './template.ts';

const LOOK_EVERY = 25;

type Play<K extends StepKind> = (
  stage: Stage,
  step: Steps[K],
) => Promise<Pair | null | void> | void;

/** What each kind of step does, to the product and to the model. */
const PLAYS: { readonly [K in StepKind]: Play<K> } = {
  deliver: inbox.deliver,
  'deliver at once': inbox.deliverAtOnce,
  'deliver again': inbox.deliverAgain,
  claim: inbox.claim,
  ack: inbox.ack,
  nack: (stage, step) => inbox.nack(stage, step, true),
  'give up': (stage, step) => inbox.nack(stage, step, false),
  extend: inbox.extend,
  requeue: inbox.requeue,
  'claim at once': inbox.claimAtOnce,
  'repeat at once': inbox.repeatAtOnce,
  wait: inbox.wait,
  waits: inbox.waits,
  ask: people.ask,
  'ask and wait': people.askAndWait,
  propose: people.propose,
  adopt: people.adopt,
  'ask too much': people.askTooMuch,
  decide: people.decide,
  'decide at once': people.decideAtOnce,
  status: people.status,
  repeat: (stage) => stage.repeat(),
  receiver: routes.receiver,
  'push on': routes.pushOn,
  'retry route': routes.retry,
  route: routes.turnRoute,
  revoke: service.revoke,
  clock: (stage, { ms }) => inbox.moveClock(stage, stage.model.clock.wallMs + ms),
  'clock back': (stage, { ms }) => inbox.moveClock(stage, stage.model.clock.wallMs - ms),
  edge: service.toEdge,
  tick: service.tick,
  restart: service.restart,
  look: (stage) => look(stage),
  crash: service.crash,
};

export const STEP_KINDS = Object.keys(PLAYS);

/** Plays steps in a fresh world; throws where it differs from the model. */
export async function play(
  template: Template,
  steps: readonly Step[],
  options: StageOptions,
): Promise<void> {
  const stage = await Stage.open(template, options);
  routes.receiver(stage, { isUp: true });
  template.receiver.got.length = 0;
  try {
    for (const [nth, step] of steps.entries()) {
      options.coverage.step(step.kind);
      const { length } = stage.model.ledger;
      const pair = await (PLAYS[step.kind] as Play<typeof step.kind>)(stage, step);
      if (pair) same(pair, options.coverage);
      await stage.world.settled();
      await routes.afterPushes(stage);
      await stage.adoptOrder(length, step.kind);
      await stage.learn();
      if (nth % LOOK_EVERY === LOOK_EVERY - 1) await look(stage);
    }
    await look(stage);
    await service.restart(stage);
    await look(stage);
  } finally {
    await stage.close();
  }
}
