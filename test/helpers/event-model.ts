type Status = 'pending' | 'claimed' | 'done' | 'failed' | 'dead';

/** One event as the interface describes it, written down without the code under test. */
export class EventModel {
  status: Status = 'pending';
  attempts = 0;
  /** Who holds the lease, held it when it ran out, or finished the event with it. */
  holder: { key: number; lease: string } | null = null;
  due: number | null = null;

  /** What time alone does. */
  pass(now: number): void {
    if (this.due === null || this.due > now) return;
    this.due = null;
    if (this.status === 'failed') this.status = 'pending';
    else this.fail();
  }

  /** The code of a claim; the caller tells the lease afterwards. */
  claim(): string {
    return this.status === 'pending' ? 'ok' : 'EVENT_NOT_CLAIMABLE';
  }

  claimed(key: number, lease: string, until: number): void {
    this.status = 'claimed';
    this.holder = { key, lease };
    this.due = until;
  }

  ack(key: number, lease: string | undefined): string {
    if (this.status === 'done') return this.holds(key, lease) ? 'ok' : 'EVENT_NOT_CLAIMABLE';
    const code = this.refusal(key, lease);
    if (code !== 'ok') return code;
    this.status = 'done';
    this.due = null;
    return 'ok';
  }

  nack(key: number, lease: string | undefined, retry: boolean, now: number): string {
    const code = this.refusal(key, lease);
    if (code !== 'ok') return code;
    this.fail();
    this.holder = null;
    if (this.status === 'dead' || !retry) {
      this.status = 'dead';
      this.due = null;
    } else {
      this.status = 'failed';
      this.due = now + ([30, 60, 120, 240][this.attempts - 1] ?? 0) * 1000;
    }
    return 'ok';
  }

  extend(key: number, lease: string | undefined, until: number): string {
    const code = this.refusal(key, lease);
    if (code === 'ok') this.due = until;
    return code;
  }

  requeue(): string {
    if (this.status !== 'dead') return 'EVENT_NOT_CLAIMABLE';
    Object.assign(this, { status: 'pending', attempts: 0, holder: null, due: null });
    return 'ok';
  }

  private fail(): void {
    this.attempts += 1;
    this.status = this.attempts >= 5 ? 'dead' : 'pending';
  }

  private holds(key: number, lease: string | undefined): boolean {
    return this.holder?.key === key && (lease === undefined || lease === this.holder.lease);
  }

  private refusal(key: number, lease: string | undefined): string {
    if (this.status === 'claimed') return this.holds(key, lease) ? 'ok' : 'LEASE_NOT_HELD';
    if (this.status !== 'pending' || this.holder === null) return 'EVENT_NOT_CLAIMABLE';
    return this.holder.key === key ? 'LEASE_EXPIRED' : 'LEASE_NOT_HELD';
  }
}
