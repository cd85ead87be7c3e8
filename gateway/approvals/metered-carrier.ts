import type { ChannelKind } from '../../shared/store/tables/people/channels.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Carrier } from './approvals.ts';

/** Wraps a carrier so that `metrics` counts its results. */
export function meteredCarrier(
  carrier: Carrier,
  kind: ChannelKind,
  metrics: Metrics | undefined,
): Carrier {
  if (!metrics) return carrier;
  return {
    async send(notification, to) {
      const sent = await carrier.send(notification, to);
      metrics.posted(kind, sent.outcome);
      return sent;
    },
  };
}
