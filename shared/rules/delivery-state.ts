/**
 * `cancelled`: its route was removed or disabled before it arrived. A dead one may be tried again by hand, the other two
 * ends are final.
 */
export type DeliveryStatus = 'pending' | 'delivered' | 'dead' | 'cancelled';

interface RoutedEvent {
  readonly status: 'pending' | 'done' | 'dead';
  /** Nobody may pull it. */
  readonly routed: boolean;
}

/**
 * Where an event stands by the deliveries of its routes: done when all that count have arrived, dead when one is given up.
 * With nothing left under way it is no longer held back: a dead one may be requeued for pulling, and one whose
 * deliveries were all cancelled is pending for whoever pulls.
 */
export function routedEvent(deliveries: readonly DeliveryStatus[]): RoutedEvent {
  const underWay = deliveries.includes('pending');
  if (deliveries.includes('dead')) return { status: 'dead', routed: underWay };
  if (underWay) return { status: 'pending', routed: true };
  if (deliveries.includes('delivered')) return { status: 'done', routed: true };
  return { status: 'pending', routed: false };
}
