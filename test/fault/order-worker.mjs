// Charges each order once, ships it once if somebody approves, and notes each act in a file.
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Svc } from 'svc-agents/client';

async function act(kind, order) {
  // Long enough that a kill often falls into it.
  await sleep(500);
  appendFileSync(process.env.ACTS, `${kind} ${order}\n`);
}

async function handler({ payload: { order } }, ctx) {
  await ctx.once('charge', () => act('charged', order));
  const answer = await ctx.ask.approval('order.ship', `Ship ${order}`, { bind: { order } });
  ctx.spend(answer);
  await ctx.once('ship', () => act('shipped', order));
  return { order };
}

await new Svc().work({ source: 'shop' }, handler, { concurrency: 4, leaseSeconds: 120 });
