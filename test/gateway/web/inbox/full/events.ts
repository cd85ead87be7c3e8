import type { FakeClock, TestGateway } from '../../../../helpers/gateway.ts';
import { as, claims, deliverTo, type Agent } from './agents.ts';

const MINUTE_MS = 60_000;
const HOURS = 24;

/** What comes in during a day, over and over. */
const DAY = [
  ['github', 'github.pull_request.opened'],
  ['stripe', 'stripe.invoice.paid'],
  ['shop', 'webhook'],
  ['github', 'github.issues.opened'],
  ['stripe', 'stripe.payment_intent.succeeded'],
  ['stripe', 'stripe.customer.created'],
  ['github', 'github.push'],
] as const;

interface Worked {
  readonly gateway: TestGateway;
  readonly clock: FakeClock;
  readonly agent: Agent;
}

/** The sources that events come from. */
export async function addSources(gateway: TestGateway): Promise<void> {
  await gateway.addSource({ name: 'stripe', verification: 'stripe', secret: 'whsec_c2VjcmV0' });
  await gateway.addSource({ name: 'github', verification: 'github', secret: 'a-shared-secret' });
  await gateway.addSource({ name: 'shop', verification: 'none' });
}

/** A day in which events come in and an agent works on them; ends now. */
export async function aDay({ gateway, clock, agent }: Worked): Promise<void> {
  for (let hour = 0; hour < HOURS; hour += 1) {
    const count = 1 + (hour % 4);
    for (let n = 0; n < count; n += 1) {
      const [source, kind] = DAY[(hour * 3 + n) % DAY.length] ?? DAY[0];
      const event_id = await deliverTo(gateway, source, kind);
      clock.advance(5000 + 9000 * (hour % 3));
      await claims(gateway, agent, event_id);
      clock.advance(20_000 + 7000 * n);
      await end({ gateway, clock, agent }, event_id, hour + n);
    }
    clock.advance((60 - 2 * count) * MINUTE_MS);
  }
}

/** Most are done; now and then an attempt fails first. */
async function end({ gateway, clock, agent }: Worked, event_id: string, n: number): Promise<void> {
  if (n % 7 === 3) {
    const reason = 'The ledger of the shop didn’t answer within 30 seconds.';
    await as(gateway, agent, ['POST', '/v1/inbox/nack'], { event_id, reason });
    clock.advance(MINUTE_MS);
    await claims(gateway, agent, event_id);
  }
  const result = { ticket: `SHOP-${1000 + n}`, replied: true };
  await as(gateway, agent, ['POST', '/v1/inbox/ack'], { event_id, result });
}

/** Events that need somebody, or are under way. */
export interface States {
  readonly pending: string;
  readonly claimed: string;
  readonly failed: string;
  readonly dead: string;
  readonly done: string;
}

/** One event in each state that an agent can bring it to. */
export async function inEachState(worked: Worked): Promise<States> {
  const { gateway, agent } = worked;
  const nack = (event_id: string, reason: string, retry: boolean) =>
    as(gateway, agent, ['POST', '/v1/inbox/nack'], { event_id, reason, retry });
  const dead = await deliverTo(gateway, 'stripe', 'stripe.invoice.payment_failed');
  await claims(gateway, agent, dead);
  await nack(dead, DEAD_REASON, false);
  const failed = await deliverTo(gateway, 'github', 'github.workflow_run.completed');
  await claims(gateway, agent, failed);
  await nack(failed, 'GitHub answered 502 to GET /repos/acme/shop/actions/runs.', true);
  const done = await deliverTo(gateway, 'shop', 'webhook');
  await claims(gateway, agent, done);
  await end(worked, done, 1);
  const claimed = await deliverTo(gateway, 'github', 'github.issues.opened');
  await claims(gateway, agent, claimed);
  const pending = await deliverTo(gateway, 'github', 'github.pull_request.opened');
  return { pending, claimed, failed, dead, done };
}

/** Why the invoice wasn't processed. */
export const DEAD_REASON =
  'No customer in the books has this Stripe id, so the invoice can’t be posted. Add the customer, then requeue.';
