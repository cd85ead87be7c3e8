import type { FakeClock, TestGateway } from '../../../../helpers/gateway.ts';
import { TestPeople } from '../../../approvals/people.ts';
import { as, asks, claims, deliverTo, type Agent } from './agents.ts';

const DETAILS = `Customer: Ines Ferreira <ines@example.com>
Order: 20418, three walnut shelves, delivered on 17 November
What happened: one shelf arrived with a split along the back edge. She sent two photos; both are on the disk under support/20418/.
What I propose: refund the price of the one shelf and let her keep it. A replacement would take nine days, and she needs the room before then.
What it costs: EUR 129.50, to the card that she paid with. The payment is 41 days old, so Stripe takes no fee for the refund.
Policy: refunds above EUR 100 need a person.`;

interface Asking {
  readonly gateway: TestGateway;
  readonly clock: FakeClock;
  readonly support: Agent;
  readonly deploy: Agent;
}

/** Requests that wait: one of each kind, some with much to read. */
export async function waitingRequests({ gateway, support, deploy }: Asking): Promise<void> {
  const event_id = await deliverTo(gateway, 'shop', 'webhook');
  await claims(gateway, support, event_id);
  const refund = await asks(gateway, support, {
    action: 'payment.refund',
    summary: 'Refund EUR 129.50 of order 20418 to Ines Ferreira',
    details: DETAILS,
    risk: 'high',
    amount: 129.5,
    bind: { payment: 'pi_3QK2vZ2eZvKYlo2C1a9xq8Lp', amount: 12_950, currency: 'eur' },
    event_id,
    state_ref: 'support/20418',
  });
  await as(gateway, support, ['PUT', '/v1/state/support%2F20418'], {
    state: { order: 20418, photos: 2, asked: refund, replied: false },
    note: 'Waits for the refund to be approved.',
  });
  await as(gateway, support, ['POST', '/v1/inbox/nack'], {
    event_id,
    until: [refund],
    state: { step: 'refund', order: 20418 },
  });
  await asks(gateway, deploy, {
    action: 'deploy.production',
    summary: 'Deploy shop v2.41 to production',
    details:
      'Two fixes for the checkout, and a new index on orders. Staging has run it since Monday.',
    options: ['Tonight at 22:00', 'Tomorrow morning'],
    expires_in: '40m',
  });
  await asks(gateway, support, {
    question:
      'Ben Okafor asks for an invoice in the name of another company, Okafor Trading Ltd.\nMay I issue it again with that name, or does the first one have to be cancelled?',
    options: ['Issue it again', 'Cancel the first one'],
  });
}

/** Requests in every way that they end. */
export async function endedRequests({ gateway, clock, support, deploy }: Asking): Promise<void> {
  const people = await TestPeople.of(gateway, clock);
  const ask = (agent: Agent, more: Readonly<Record<string, unknown>>) => asks(gateway, agent, more);
  const approved = await ask(deploy, { action: 'deploy.production', summary: 'Deploy shop v2.40' });
  await people.decide(approved, { verb: 'approve', comment: 'Go. I’m around until six.' });
  await as(gateway, deploy, ['POST', `/v1/requests/${approved}/use`], {});
  const changed = await ask(deploy, {
    action: 'db.migrate',
    summary: 'Add an index to orders, which locks the table for about 40 seconds',
    options: ['Tonight', 'At the weekend'],
  });
  await people.decide(changed, { verb: 'option', index: 1 });
  const denied = await ask(support, {
    action: 'payment.refund',
    summary: 'Refund EUR 940 of order 19977 to Marek Nowak',
    amount: 940,
  });
  await people.decide(denied, {
    verb: 'deny',
    comment: 'He has the goods and the warranty covers it. Offer a repair.',
  });
  const back = await ask(support, {
    action: 'account.close',
    summary: 'Close the account of S. Lind',
  });
  await people.decide(back, { verb: 'needs_context', comment: 'Did she ask for it in writing?' });
  const answered = await ask(support, { question: 'Which carrier do we use for Norway?' });
  await people.decide(answered, { verb: 'answer', text: 'Bring, since October.' });
  for (const version of ['v2.37', 'v2.38', 'v2.39']) {
    const summary = `Deploy shop ${version} to staging`;
    const asked = await ask(deploy, { action: 'deploy.staging', summary, risk: 'low' });
    await people.decide(asked, { verb: 'approve' });
    clock.advance(600_000);
  }
  await ask(deploy, { action: 'cache.clear', summary: 'Clear the CDN cache', expires_in: '5m' });
  clock.advance(900_000);
  await people.maintenance();
}
