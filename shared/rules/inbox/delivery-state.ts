/**
 * `cancelled`: someone removed or disabled the route before the event arrived. A caller can retry a dead delivery;
 * `delivered` and `cancelled` are final.
 */
export type DeliveryStatus = 'pending' | 'delivered' | 'dead' | 'cancelled';

interface RoutedEvent {
  readonly status: 'pending' | 'done' | 'dead';
  /** Agents can't pull the event. */
  readonly routed: boolean;
}

/**
 * The state of an event by the deliveries of its routes: done if all that count have arrived, dead if one was given up.
 * Once no delivery is pending, routes no longer hold the event back: agents can pull a dead one after a requeue, and an
 * event whose deliveries were all cancelled is pending for agents to pull.
 */
export function routedEvent(deliveries: readonly DeliveryStatus[]): RoutedEvent {
  const underWay = deliveries.includes('pending');
  if (deliveries.includes('dead')) return { status: 'dead', routed: underWay };
  if (underWay) return { status: 'pending', routed: true };
  if (deliveries.includes('delivered')) return { status: 'done', routed: true };
  return { status: 'pending', routed: false };
}
