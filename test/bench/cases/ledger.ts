import type { RunBench } from '../bench.ts';
import { interleave } from '../bench.ts';
import type { Verified } from '../child/store.ts';
import { ratios, spread } from '../stats.ts';

/** How fast a ledger is verified, and for how long that holds up everything else. */
export const ledger: RunBench = async (bench) => {
  const entries = bench.quick ? 20_000 : 100_000;
  const child = await bench.workshop.child('store');
  await child.call('openLedger', { folder: bench.workshop.place('ledger'), entries });
  await child.call('verifyLedger');
  const held: number[] = [];
  const rateLimiter = await interleave<'ours' | 'bare', number>(bench, {
    ours: async () => {
      const { perSecond, heldMs } = await child.call<Verified>('verifyLedger');
      held.push(heldMs);
      return perSecond;
    },
    bare: () => child.call<number>('verifyInMemory'),
  });
  await child.end();
  const size = `${entries / 1000} k entries`;
  return [
    {
      bench: 'ledger',
      what: `svc ledger verify, ${size}`,
      value: { unit: '/s', spread: spread(rateLimiter.ours) },
      baseline: { name: 'the same check in memory', unit: '/s', spread: spread(rateLimiter.bare) },
      ratio: ratios(rateLimiter.ours, rateLimiter.bare),
    },
    {
      bench: 'ledger',
      what: `svc ledger verify, ${size}, longest hold of the event loop`,
      value: { unit: 'ms', spread: spread(held) },
      target: { of: 'value', op: '<=', limit: 50 },
    },
  ];
};
