import { maintain } from '../../../../../gateway/projects/maintenance.ts';
import type { FakeClock, TestGateway } from '../../../../helpers/gateway.ts';
import { projectOf, Routes, type Route } from '../../../../shared/operations/route/routes.ts';
import type { Receiver } from '../../../callbacks/callback-receiver.ts';

const MINUTE_MS = 60_000;
/** A little later than each retry is due. */
const PAUSES_MS = [2, 6, 34, 135, 800].map((minutes) => minutes * MINUTE_MS);

interface Delivering {
  readonly gateway: TestGateway;
  readonly clock: FakeClock;
  readonly receiver: Receiver;
}

/** A route whose deliveries arrive, one that gave some up, and one that is disabled. */
export async function fillRoutes(delivering: Delivering): Promise<Route> {
  const { gateway, clock, receiver } = delivering;
  const routes = new Routes(gateway);
  const project = await projectOf(gateway);
  const failing = await routes.add(receiver.url('/hooks/warehouse'), { match_source: 'warehouse' });
  receiver.answer((response) =>
    response
      .writeHead(503, { 'content-type': 'application/json' })
      .end(
        '{"error":"maintenance","message":"The warehouse is being moved to a new server until 06:00."}',
      ),
  );
  for (let n = 0; n < 3; n += 1) {
    await routes.event({
      source: 'warehouse',
      body: `{"event":"stock.changed","sku":"shelf-${n}"}`,
    });
  }
  await allAttempted(routes, failing.id, 1);
  for (const [index, pause] of PAUSES_MS.entries()) {
    clock.advance(pause);
    await maintain(project, clock);
    await allAttempted(routes, failing.id, index + 2);
  }
  receiver.answer(204);
  const working = await routes.add(receiver.url('/hooks/metrics'), { match_source: 'metrics' });
  await routes.event({ source: 'metrics', body: '{"event":"visit","count":41}' });
  await routes.attempted(working.id, 1);
  const disabled = await routes.add(receiver.url('/hooks/old-crm'), { match_source: 'crm' });
  receiver.answer((response) => response.writeHead(410).end('gone'));
  await routes.event({ source: 'crm', body: '{"event":"contact.changed","id":7}' });
  await routes.attempted(disabled.id, 1);
  receiver.answer(204);
  return failing;
}

async function allAttempted(routes: Routes, id: string, count: number): Promise<void> {
  const until = performance.now() + 10_000;
  while ((await routes.log(id)).some(({ attempts }) => attempts < count)) {
    if (performance.now() > until) throw new Error(`Attempt ${count} never came.`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
